# SPDX-License-Identifier: Apache-2.0
"""What the examples in Python say of what is not there: a message on stderr and status 1, no traceback."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("arguments", "message"), [
    (["python_classify", "nowhere"], "error: nowhere: there is no such file or folder\n"),
    (["python_classify", "examples/data", "nowhere.onnx"], "error: nowhere.onnx: "),
    (["python_classify", "--labels", "nowhere.txt"], "error: [Errno 2] No such file or directory: 'nowhere.txt'\n"),
    (["python_classify", "--device", "nowhere"], "error: device 'nowhere': no device matches"),
    (["python_classify", "docs/images/picture_presets.png"], "error: docs/images/picture_presets.png: picture: "),
    (["python_frames", "5", "nowhere"], "error: [Errno 2] No such file or directory: 'nowhere'\n"),
    (["python_frames", "5", "--model", "nowhere.onnx"], "error: nowhere.onnx: "),
    (["python_speech", "nowhere.wav", "--model", "nowhere.onnx"], "error: nowhere.onnx: "),
    (["personalise", "10", "nowhere"], "error: device 'nowhere': no device matches"),
    (["python_train", "20", "nowhere"], "error: device 'nowhere': no device matches"),
])
def test_what_is_not_there_is_named(arguments, message):
    done = subprocess.run([sys.executable, f"examples/{arguments[0]}/main.py", *arguments[1:]], cwd=ROOT, check=False,
                          capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(message)
