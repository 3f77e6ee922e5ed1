"""AUC, curve, table, JSON and plot on their own."""

import json
import math
import struct

import numpy as np
import pytest
import tensorflow as tf

from common import plots, report
from common.errors import InputError
from common.graph import Evaluation
from common.history import History, Window
from common.metrics import roc_auc


def test_roc_auc_is_the_probability_that_a_positive_scores_higher():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 2, 300), rng.integers(0, 20, 300) / 7  # many ties
    positive, negative = scores[labels == 1][:, None], scores[labels == 0][None]
    expected = ((positive > negative) + 0.5 * (positive == negative)).mean()
    assert roc_auc(labels, scores) == pytest.approx(expected, abs=1e-12)


def test_roc_auc_agrees_with_tf_metrics():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 5000)
    scores = np.clip(0.5 + 0.2 * (labels - 0.5) + 0.2 * rng.standard_normal(5000), 0, 1).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = tf.metrics.auc(labels, scores, num_thresholds=1000)
        session.run(tf.local_variables_initializer())
        session.run(update)
        assert roc_auc(labels, scores) == pytest.approx(session.run(value), abs=1e-3)


def test_roc_auc_of_one_class_is_undefined():
    assert math.isnan(roc_auc(np.ones(3), np.arange(3)))


def window(loss, size=4):
    result = Window(batch_size=size)
    result.add(loss, np.array([0, 1] * (size // 2)), np.array([0.2, 0.8] * (size // 2)))
    return result


def evaluation(auc):
    return Evaluation(loss=0.4, auc=auc, examples=10, rate=1.0, bad_rows=0, seconds=1.0, cpu_seconds=1.0)


def test_window_averages_since_the_last_point():
    seen = window(1.0)
    seen.add(0.5, np.array([1, 0]), np.array([0.1, 0.9]))
    assert seen.loss() == 0.75 and seen.recent_loss(1) == 0.5
    assert seen.auc() == pytest.approx(roc_auc(np.array([0, 1, 0, 1, 1, 0]), np.array([0.2, 0.8, 0.2, 0.8, 0.1, 0.9])))
    seen.clear()
    assert not seen


def test_history_resumes_without_points_behind_the_checkpoint(tmp_path):
    history = History(str(tmp_path / "h.json"), last_step=0)
    history.add(10, 40, window(1.0), evaluation(0.6))
    history.add(20, 80, window(0.9), evaluation(0.7))
    resumed = History(str(tmp_path / "h.json"), last_step=15)
    resumed.add(30, 120, window(0.8))
    resumed.evaluated(evaluation(0.75))
    assert [(point.step, point.eval_auc) for point in resumed.points] == [(10, 0.6), (30, 0.75)]
    assert History(str(tmp_path / "h.json"), last_step=30).points == resumed.points
    assert History(str(tmp_path / "h.json"), last_step=0).points == []


def test_history_that_is_no_json_is_refused(tmp_path):
    (tmp_path / "h.json").write_text("[{")
    with pytest.raises(InputError, match="h.json: cannot be read"):
        History(str(tmp_path / "h.json"), last_step=5)


def test_json_has_null_for_what_is_not_a_number(tmp_path):
    report.write_json(str(tmp_path / "r.json"), {"a": [math.nan, 1.5], "b": math.inf})
    assert json.loads((tmp_path / "r.json").read_text()) == {"a": [None, 1.5], "b": None}


def test_table_shows_both_parts_and_the_resources():
    train = report.Measure(loss=0.51, auc=0.7512, examples=1_234_567, rate=23_456.7, cpu_seconds=3.0, bad_rows=2)
    held_out = report.Measure(loss=0.5, auc=math.nan, examples=10, rate=math.nan, cpu_seconds=3.0, bad_rows=0)
    text = report.table(train, held_out, {"wall_seconds": 61.26, "cpu_seconds": 99.9, "peak_memory_mib": 1234.5})
    assert text.splitlines()[0].split() == ["loss", "AUC", "examples", "examples/s", "bad", "rows"]
    assert text.splitlines()[2].split() == ["train", "0.5100", "0.7512", "1,234,567", "23,457", "2"]
    assert text.splitlines()[3].split() == ["eval", "0.5000", "-", "10", "-", "0"]
    assert text.splitlines()[5] == "wall 61.3 s   CPU 99.9 s   peak memory 1,234 MiB"


@pytest.mark.parametrize("evaluated", [True, False])
def test_plot_is_a_png_with_ink(tmp_path, evaluated):
    points = [
        report.Point(i, i * 512, 1 / i, 0.5 + i / 20, *([0.9 / i, 0.5 + i / 19] if evaluated else []))
        for i in (1, 2, 3)
    ]
    assert plots.curves(str(tmp_path / "p.png"), "title", points)
    data = (tmp_path / "p.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (1200, 480)
    import matplotlib.image

    pixels = matplotlib.image.imread(str(tmp_path / "p.png"))[..., :3]
    blue = (pixels[..., 2] > 0.6) & (pixels[..., 0] < 0.3)
    assert (blue.sum() > 100) == evaluated


def test_plot_of_several_tasks_has_a_curve_of_each(tmp_path):
    points = [
        report.Point(i, i * 512, 1 / i, 0.5, 0.9 / i, 0.6, {"clk": 0.5, "buy": 0.6}, {"clk": 0.6, "buy": 0.7})
        for i in (1, 2, 3)
    ]
    assert plots.curves(str(tmp_path / "p.png"), "title", points)
    import matplotlib.image

    pixels = matplotlib.image.imread(str(tmp_path / "p.png"))[..., :3]
    blue = (pixels[..., 2] > 0.6) & (pixels[..., 0] < 0.3)
    orange = (pixels[..., 0] > 0.65) & (pixels[..., 2] < 0.3)
    assert blue.sum() > 100 and orange.sum() > 100


def test_window_of_several_tasks_has_the_auc_of_each():
    rng = np.random.default_rng(3)
    seen, batches = Window(batch_size=50), []
    for _ in range(3):
        batches.append({name: (rng.integers(0, 2, 50), rng.random(50)) for name in ("clk", "buy")})
        labels, scores = ({name: pair[i] for name, pair in batches[-1].items()} for i in (0, 1))
        seen.add(0.5, labels, scores)
    expected = {
        name: roc_auc(*(np.concatenate(parts) for parts in zip(*(batch[name] for batch in batches))))
        for name in ("clk", "buy")
    }
    assert seen.aucs() == expected and seen.auc() == expected["clk"]
    assert window(1.0).aucs() is None


def test_table_has_a_column_for_each_of_several_tasks():
    train, held_out = (
        report.Measure(0.5, 0.7, 10, 1.0, 3.0, 0, {"clk": clk, "conversion": 0.8}) for clk in (0.7, math.nan)
    )
    lines = report.table(train, held_out, {"wall_seconds": 1, "cpu_seconds": 1, "peak_memory_mib": 1}).splitlines()
    assert lines[2].split() == ["train", "0.5000", "0.7000", "0.8000", "10", "1", "0"]
    assert lines[3].split() == ["eval", "0.5000", "-", "0.8000", "10", "1", "0"]
    for title, value in (("AUC clk", "0.7000"), ("AUC conversion", "0.8000")):
        assert lines[0].index(title) + len(title) == lines[2].index(value) + len(value)


def test_files_speak_of_tasks_only_where_there_are_several():
    one = report.Measure(loss=0.5, auc=0.7, examples=1, rate=1.0, cpu_seconds=1.0, bad_rows=0)
    assert "aucs" not in report.as_dict(one)
    assert report.as_dict(report.Point(1, 2, 0.5, 0.6))["eval_auc"] is None
    several = report.Point(1, 2, 0.5, 0.6, train_aucs={"clk": 0.6, "buy": 0.5})
    assert report.as_dict(several)["train_aucs"] == {"clk": 0.6, "buy": 0.5}
