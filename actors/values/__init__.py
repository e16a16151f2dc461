"""Frozen value objects of the service's nouns; standard library only."""
