"""The HTTP routes: decode, call, encode. A handler holds no rule."""
