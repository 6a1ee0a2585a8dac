"""The only code that touches the world, one module per technology."""
