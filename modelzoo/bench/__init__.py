"""Training speed of the zoo against the released TensorFlow."""
