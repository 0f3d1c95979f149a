"""The operations that the venue ships with, one module per adapter."""
