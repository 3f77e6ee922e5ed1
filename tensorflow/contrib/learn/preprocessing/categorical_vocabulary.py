"""Vocabularies: words and their ids."""


class CategoricalVocabulary:
    """Gives ids to words; id 0 is for unknown ones.

    Args:
      unknown_token: the word of id 0.
      support_reverse: whether ids can be turned into words.
    """

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token = unknown_token
        self._mapping = {unknown_token: 0}
        self._support_reverse = support_reverse
        if support_reverse:
            self._reverse_mapping = [unknown_token]
        self._freq = {}
        self._freeze = False

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """Stops (or lets) new words get ids."""
        self._freeze = freeze

    def get(self, category):
        """The id of a word; a new one if the vocabulary is not frozen, else 0."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category, count=1):
        """Counts a word, and gives it an id if it has none."""
        if self.get(category) > 0:
            self._freq[category] = self._freq.get(category, 0) + count

    def trim(self, min_frequency, max_frequency=-1):
        """Keeps the words that were counted more than `min_frequency` times, and less than `max_frequency` times if that is above 0.

        Ids are given anew, the more frequent ones first.
        """
        # By frequency, then by word, so that ids do not depend on the order of adding.
        ordered = sorted(sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0])),
                         key=lambda item: item[1], reverse=True)  # fmt: skip
        self._mapping = {self._unknown_token: 0}
        if self._support_reverse:
            self._reverse_mapping = [self._unknown_token]
        kept = {}
        for category, count in ordered:
            if 0 < max_frequency <= count:
                continue
            if count <= min_frequency:
                break
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
            kept[category] = count
        self._freq = kept

    def reverse(self, class_id):
        """The word of an id.

        Raises:
          ValueError: if the vocabulary does not support it.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]
