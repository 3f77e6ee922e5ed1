"""S10: Horovod. Without a launcher there is one process."""

import horovod.tensorflow as hvd


def main():
    hvd.init()
    print(f"rank {hvd.rank()} of {hvd.size()}, {hvd.local_rank()} on its machine")


if __name__ == "__main__":
    main()
