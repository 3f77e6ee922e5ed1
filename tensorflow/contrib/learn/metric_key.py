"""Names of metrics."""


class MetricKey:
    """Keys of the dicts that evaluations return."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    PREDICTION_MEAN = "labels/prediction_mean"
    LABEL_MEAN = "labels/actual_label_mean"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"
