# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/python.md run as they stand there, and so does indented Python."""
import ast
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
# What indented lines of Python take as given.
BEFORE = """
import pathlib, tempfile
import morton, numpy as np
holder = tempfile.TemporaryDirectory()
folder = holder.name
for i in range(20):  # 4 of them are held back
    path = pathlib.Path(folder) / "ab"[i % 2] / f"{i}.png"
    path.parent.mkdir(exist_ok=True)
    morton.write_picture(path, np.full((20 + i, 40 - i, 3), 12 * i, np.uint8))
class Torch:
    def __init__(self, array):
        self.numpy = lambda: array
loader = [(Torch(np.zeros((4, 1, 32, 32), np.float32)), Torch(np.arange(4)))]
model = morton.Model.load("models/lenet5.onnx")
trainer = morton.Trainer(model, morton.Device(), batch=4)
"""
BEHIND = "assert result['rows'] == 4\n"


def is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


INDENTED = [text for text in (textwrap.dedent(block) for block in re.findall(
    r"(?<=\n\n)((?: {4}.*\n)+)", re.sub(r"^```.*?^```", "", TEXT, flags=re.MULTILINE | re.DOTALL))) if is_python(text)]


def test_there_are_some():
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block):
    run = subprocess.run([sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_there_is_some_indented_python():
    assert INDENTED


@pytest.mark.parametrize("block", INDENTED)
def test_indented_python(block):
    run = subprocess.run([sys.executable, "-c", BEFORE + block + BEHIND], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
