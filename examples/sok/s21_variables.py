"""S21: tables of a fixed number of rows; each rank holds its part."""

import argparse

import numpy as np
import s20_experimental_init
import tensorflow as tf

from sparse_operation_kit import experiment as sok


def parse(description, argv):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--localized", action="store_true", help="one table on rank 0, one on the last rank")
    return parser.parse_args(argv)


def make(localized=False):
    """Tables `[17, 3]` and `[7, 5]` with the numbers from 0 on."""
    modes = ["localized:0", f"localized:{sok.num_ranks() - 1}"] if localized else ["distributed"] * 2
    v1 = sok.Variable(np.arange(17 * 3).reshape(17, 3), dtype=tf.float32, mode=modes[0])
    v2 = sok.Variable(np.arange(7 * 5).reshape(7, 5), dtype=tf.float32, mode=modes[1])
    return v1, v2


def main(argv=None):
    args = parse(__doc__, argv)
    s20_experimental_init.initialize()
    for name, variable in zip(("v1", "v2"), make(args.localized)):
        print(f"{name}:", variable)


if __name__ == "__main__":
    main()
