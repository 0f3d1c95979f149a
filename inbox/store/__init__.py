"""The storage kernel: units of work over named SQL statements (house 3)."""
