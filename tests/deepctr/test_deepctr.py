"""deepctr 0.9.3 and 0.9.4, unmodified from their wheels, train on this TensorFlow: 30 models and five estimators each."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

_BATTERY = pathlib.Path(__file__).with_name("battery.py")
# Folder with a folder 0.9.3 and a folder 0.9.4, each with the package of that release; ci/test.sh makes it.
_FOLDER = os.environ.get("DEEPREC_TEST_DEEPCTR")
_MODELS = """
DCN DIFM DeepFM FNN FwFM IFM NFM ONN WDL xDeepFM AutoInt DeepFEFM DCNMix FiBiNET CCPM AFM EDCN FGCNN FLEN MLR PNN DIN BST DIEN-GRU
DIEN-AUGRU DSIN ESMM MMOE PLE SharedBottom DeepFMEstimator WDLEstimator DCNEstimator FiBiNETEstimator AFMEstimator
""".split()


@pytest.fixture(scope="module", params=["0.9.3", "0.9.4"])
def results(request):
    if not _FOLDER:
        pytest.skip("DEEPREC_TEST_DEEPCTR is not set")
    tests = [item for item in request.session.items if item.function is test_model_trains_saves_and_reloads]
    models = [item.callspec.params["model"] for item in tests if item.callspec.params["results"] == request.param]
    path = os.pathsep.join(filter(None, [os.path.join(_FOLDER, request.param), os.environ.get("PYTHONPATH")]))
    run = subprocess.run(
        [sys.executable, str(_BATTERY), *models],
        env={**os.environ, "PYTHONPATH": path},
        text=True,
        capture_output=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("model", _MODELS)
def test_model_trains_saves_and_reloads(results, model):
    assert results[model] == "ok"
