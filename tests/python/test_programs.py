# SPDX-License-Identifier: Apache-2.0
"""Programs for ONNX Runtime's Python API run with their import changed, and give what it gives."""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(ROOT / "models" / "lenet5.onnx", folder)
    shutil.copy(HERE / "models" / "open.onnx", folder)
    return folder


def test_there_are_ten():
    assert len(PROGRAMS) == 10


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, models, tmp_path):
    text = (HERE / "programs" / f"{name}.py").read_text(encoding="utf-8")
    text, changes = re.subn(r"^((?:import|from) )onnxruntime\b", r"\1morton", text, flags=re.MULTILINE)
    assert changes > 0
    if re.search(r"^import morton$", text, flags=re.MULTILINE):
        text = text.replace("onnxruntime.", "morton.")
    program = tmp_path / f"{name}.py"
    program.write_text(text, encoding="utf-8")
    results = tmp_path / "results.npz"
    run = subprocess.run([sys.executable, str(program), str(models), str(results)], capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
    with np.load(HERE / "expected" / f"{name}.npz") as expected, np.load(results) as found:
        assert sorted(found) == sorted(expected)
        for key in expected:
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-4, atol=1e-5)
