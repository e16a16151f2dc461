"""Driver of Novint Falcons."""
