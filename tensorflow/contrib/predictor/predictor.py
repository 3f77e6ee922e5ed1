"""What all predictors share."""


class Predictor:
    """Runs a prediction graph on dicts of arrays.

    Attributes:
      graph, session: the graph and the session that stays open with the predictor; it can be closed through `session.close()`.
      feed_tensors, fetch_tensors: name -> Tensor, as a signature names them.
    """

    def __init__(self, graph, session, feed_tensors, fetch_tensors):
        self._graph = graph
        self._session = session
        self._feed_tensors = feed_tensors
        self._fetch_tensors = fetch_tensors

    @property
    def graph(self):
        return self._graph

    @property
    def session(self):
        return self._session

    @property
    def feed_tensors(self):
        return self._feed_tensors

    @property
    def fetch_tensors(self):
        return self._fetch_tensors

    def __repr__(self):
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    def __call__(self, input_dict):
        """Returns a dict output name -> array.

        Args:
          input_dict: input name -> array; inputs with a default can be left out.

        Raises:
          ValueError: a name that is no input.
        """
        unknown = set(input_dict) - set(self._feed_tensors)
        if unknown:
            raise ValueError(
                f"Inputs {sorted(unknown)} are not among the predictor's inputs {sorted(self._feed_tensors)}."
            )
        return self._session.run(
            self._fetch_tensors, {self._feed_tensors[name]: value for name, value in input_dict.items()}
        )
