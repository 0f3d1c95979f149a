"""Who calls, what they may, and for how long: D1 to D11, D23 and D26 over HTTP and as processes."""
