"""What the air gives a client: path loss, fading, rate."""
