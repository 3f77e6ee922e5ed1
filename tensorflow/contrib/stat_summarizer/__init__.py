"""Statistics over the step stats of runs."""

from tensorflow.python.util._pywrap_stat_summarizer import StatSummarizer

__all__ = ["DeleteStatSummarizer", "NewStatSummarizer", "StatSummarizer"]

NewStatSummarizer = StatSummarizer


def DeleteStatSummarizer(stat_summarizer):
    """Kept for code that frees its summarizers: Python does so when the last reference to `stat_summarizer` goes."""
