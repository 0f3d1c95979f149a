"""The web inbox in a real browser."""
