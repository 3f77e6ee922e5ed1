"""Constants of the estimators."""


class ProblemType:
    """Kinds of problems that a model solves."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3
