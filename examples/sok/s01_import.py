"""S1: the package, without a GPU, before or after TensorFlow."""

import sparse_operation_kit as sok


def main():
    import tensorflow as tf

    print(f"sparse_operation_kit {sok.__version__} on TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
