"""The version of this package, which `GET status` reports."""

VERSION = "0.5.0"
