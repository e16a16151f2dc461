"""Diagnosis of a machine: `facts` are gathered, `rules` make findings of them; the rules touch nothing."""
