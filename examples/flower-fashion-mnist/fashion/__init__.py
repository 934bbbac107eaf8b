"""Fashion-MNIST on a Flower federation that WiseFL leads."""
