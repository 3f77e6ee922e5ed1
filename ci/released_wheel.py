"""Prints the path of the released TensorFlow wheel that configure.py found."""

import pathlib
import re

text = (pathlib.Path(__file__).resolve().parents[1] / ".deeprec_configure.bazelrc").read_text()
print(re.search(r"DEEPREC_TF_WHEEL=(.*)", text).group(1))
