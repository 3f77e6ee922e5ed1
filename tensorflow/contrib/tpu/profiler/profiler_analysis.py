"""Messages of the profiler's analysis service, whose servers are gone: any use raises, with what replaces them."""


class _Gone:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            f"tf.contrib.tpu.profiler.{type(self).__name__} is a message of a service that TensorFlow 2 does not have: "
            "use tf.compat.v2.profiler.experimental.client and the tensorboard-plugin-profile package."
        )


class NewProfileSessionRequest(_Gone):
    pass


class NewProfileSessionResponse(_Gone):
    pass


class EnumProfileSessionsAndToolsRequest(_Gone):
    pass


class EnumProfileSessionsAndToolsResponse(_Gone):
    pass


class ProfileSessionDataRequest(_Gone):
    pass


class ProfileSessionDataResponse(_Gone):
    pass


class ProfileSessionInfo(_Gone):
    pass
