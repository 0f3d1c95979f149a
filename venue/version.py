"""The version of this package, which `GET status` reports, and how its command line calls itself."""

VERSION = "0.5.0"

CLI_AGENT = "hitl-venue-cli"
"""The product in the User-Agent of the command line: an answer's channel is then recorded as `cli` (D28)."""
