"""Bubble navigation: shapes as signed distances, and the rate control of the scene outside of them."""
