"""The Criteo display-ads text format.

A row is `label, I1..I13, C1..C26`: a click label 0/1, 13 numbers, 26 categories (hex strings in the
public sets). Any I or C field may be empty. Files are comma or tab separated, with or without a header
line, with LF or CRLF line ends.
"""

from common.text_format import Format, label, number, text

LABEL = "label"
NUMERIC = tuple(f"I{i}" for i in range(1, 14))
CATEGORICAL = tuple(f"C{i}" for i in range(1, 27))

FORMAT = Format(
    name="Criteo",
    columns=(label(LABEL), *map(number, NUMERIC), *map(text, CATEGORICAL)),
    delimiters=(",", "\t"),
    layout="label,I1..I13,C1..C26",
)

# Min-max constants of the Kaggle set, the ones the published models use: scaled = (x - minimum) / range.
NUMERIC_MINIMUM = (0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
NUMERIC_RANGE = (1539, 22069, 65535, 561, 2655388, 233523, 26297, 5106, 24376, 9, 181, 1807, 6879)
