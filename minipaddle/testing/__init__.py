"""What an op is tested with: its record, the generic suite, and Paddle's ``OpTest``."""
