"""Driver of 3Dconnexion SpaceMouses."""
