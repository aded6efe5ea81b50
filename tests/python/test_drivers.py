# SPDX-License-Identifier: Apache-2.0
"""Drivers that pip installed (morton._drivers): only where the system has none and nobody has chosen."""
from pathlib import Path

from morton import _drivers


def named(environment, system, driver):
    _drivers.name_packaged_driver(environment, system, lambda: driver)
    return environment.get("OCL_ICD_VENDORS")


def test_a_package_s_driver_is_named_where_there_is_no_other(tmp_path):
    driver = tmp_path / "libdriver.so"
    assert named({}, tmp_path / "nowhere", driver) == str(driver)
    assert named({}, tmp_path, driver) == str(driver)


def test_the_system_s_drivers_and_the_user_s_choice_stay(tmp_path):
    driver = tmp_path / "libdriver.so"
    (tmp_path / "gpu.icd").write_text("libgpu.so\n")
    assert named({}, tmp_path, driver) is None
    for variable in ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"):
        environment = {variable: "mine"}
        _drivers.name_packaged_driver(environment, tmp_path / "nowhere", lambda: driver)
        assert environment == {variable: "mine"}


def test_without_a_package_nothing_changes(tmp_path):
    assert named({}, tmp_path, None) is None


def test_a_package_s_library_is_found_by_its_record(monkeypatch, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libintelocl.so").write_bytes(b"")
    record = tmp_path / "intel_opencl_rt-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: intel-opencl-rt\nVersion: 1.0\n")
    (record / "RECORD").write_text("lib/libintelocl.so,,\nlib/other.so,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert _drivers.packaged_driver() == Path(tmp_path / "lib" / "libintelocl.so").resolve()
