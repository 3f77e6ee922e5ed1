"""The Amazon Books text format of DIN and DIEN: one row per user and candidate item.

A row is `label, user, item, category, items of the history, categories of the history`, tab separated; the oldest event of
a history comes first, and its entries are separated by the control character 2. A second file, named as the first with `_neg`
behind, has two columns of the same kind: for each event an item that the user did not choose, and its category. So all lists of
a row have as many entries. Three
vocabularies, text files with an entry a line, give the ids their numbers.
"""

from common.text_format import Format, label, text

LABEL, USER, ITEM, CATEGORY = "label", "UID", "ITEM", "CATEGORY"
HISTORY = {ITEM: "HISTORY_ITEM", CATEGORY: "HISTORY_CATEGORY"}
NEGATIVE = {ITEM: "NOCLK_HISTORY_ITEM", CATEGORY: "NOCLK_HISTORY_CATEGORY"}
SEPARATOR = "\x02"
LENGTH = 50  # events of a history that the published models look at

# Column -> file of its vocabulary.
VOCABULARIES = {USER: "uid_voc.txt", ITEM: "mid_voc.txt", CATEGORY: "cat_voc.txt"}

_OWN = (label(LABEL), text(USER), text(ITEM), text(CATEGORY), *(text(name, missing="") for name in HISTORY.values()))

FORMAT = Format(
    name="Amazon Books",
    columns=_OWN,
    delimiters=("\t",),
    layout="label, user, item, category, items of the history, their categories",
    aligned=tuple(HISTORY.values()),
    aligned_separator=SEPARATOR,
    files=("local_train_splitByUser", "local_test_splitByUser"),
)

FORMAT_WITH_NEGATIVES = Format(
    name=FORMAT.name,
    columns=(*_OWN, *(text(name, missing="") for name in NEGATIVE.values())),
    delimiters=FORMAT.delimiters,
    layout=FORMAT.layout,
    beside=len(NEGATIVE),
    suffix="_neg",
    aligned=(*HISTORY.values(), *NEGATIVE.values()),
    aligned_separator=SEPARATOR,
    files=FORMAT.files,
)
