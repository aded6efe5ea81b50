# SPDX-License-Identifier: Apache-2.0
"""python -m morton doctor: the devices, or what is missing, in the words of the error."""
import os
import subprocess
import sys

import morton


def run(*arguments, **variables):
    return subprocess.run([sys.executable, "-m", "morton", *arguments], env={**os.environ, **variables}, check=False,
                          capture_output=True, text=True)


def test_it_shows_the_version_and_every_device():
    done = run("doctor")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"morton {morton.__version__}, Python ")
    for facts in morton.devices():
        assert facts["name"] in done.stdout
        assert facts["platform_version"].strip() in done.stdout


def test_without_a_device_it_fails_in_the_words_of_the_error(tmp_path):
    without = {"OCL_ICD_VENDORS": str(tmp_path), "OPENCL_VENDOR_PATH": str(tmp_path)}
    program = "import morton\ntry: morton.Device()\nexcept morton.DeviceError as error: print(f'error: {error}')"
    words = subprocess.run([sys.executable, "-c", program], env={**os.environ, **without}, check=True,
                           capture_output=True, text=True).stdout
    hint = "; `python -m morton doctor` shows what is missing"
    assert "no OpenCL device is found" in words and hint in words
    done = run("doctor", **without)
    assert (done.returncode, done.stderr) == (1, words.replace(hint, ""))
    assert f"OCL_ICD_VENDORS={tmp_path}" in done.stdout


def test_help_and_other_commands():
    assert "doctor" in run("--help").stdout
    done = run("devices")
    assert done.returncode == 2
    assert done.stderr == ("error: devices: only `doctor` is here; the program of the Debian package `morton` has the other "
                           "commands\n")
    assert "doctor takes nothing else, got all" in run("doctor", "all").stderr
