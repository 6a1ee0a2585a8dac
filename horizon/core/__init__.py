"""The pure core: values in, values out. No I/O, clock, randomness, environment or third-party import."""
