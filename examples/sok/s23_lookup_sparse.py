"""S23: looks keys up in both tables at once; the numbers are the same for any number of ranks."""

import s20_experimental_init
import s21_variables
import s22_sparse_ids

from sparse_operation_kit import experiment as sok


def lookup(variables):
    """`[2, 3]` and `[2, 5]`: the sums of the rows."""
    return sok.lookup_sparse(variables, list(s22_sparse_ids.make()), hotness=[3, 2], combiners=["sum", "sum"])


def main(argv=None):
    args = s21_variables.parse(__doc__, argv)
    s20_experimental_init.initialize()
    embeddings = lookup(list(s21_variables.make(args.localized)))
    for i, embedding in enumerate(embeddings, 1):
        print(f"embedding{i}:", embedding)


if __name__ == "__main__":
    main()
