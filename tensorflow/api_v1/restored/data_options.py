"""MapVectorizationOptions: settings of an optimization that tf.data does not have any more."""


class MapVectorizationOptions:
    """Attributes enabled and use_choose_fastest, which nothing reads."""

    enabled = None
    use_choose_fastest = None

    def __init__(self, enabled=None, use_choose_fastest=None):
        self.enabled = enabled
        self.use_choose_fastest = use_choose_fastest
