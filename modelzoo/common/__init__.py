"""What the models of the zoo share: input, flags, the training loop, the report."""
