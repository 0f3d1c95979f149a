"""Attacks: each test is somebody who tries, with what they could really have."""
