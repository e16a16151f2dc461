"""The service's actors, cut by subject; each slice is messages, pure rules, then the actor."""
