#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tools/newest_conformance.sh [FOLDER]
# Runs the operator tests of PyPI's newest `onnx` and compares how many come out right with
# tests/model/conformance_newest.txt. What it needs goes into FOLDER (build/onnx_newest), and what is there is kept.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/onnx_newest}
version=1.23.2
if [[ ! -e $folder/python/ready ]]; then
  rm -rf "$folder"
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" --quiet --disable-pip-version-check install "onnx==$version" numpy
  touch "$folder/python/ready"
fi
if [[ ! -e $folder/tests.ready ]]; then
  rm -rf "$folder/tests"
  "$folder/python/bin/python" -W ignore tools/onnx_node_tests.py "$folder/tests"
  touch "$folder/tests.ready"
fi
export MORTON_CACHE_DIR=$PWD/$folder/cache POCL_CACHE_DIR=$PWD/$folder/pocl
exec python3 tests/model/check_conformance.py build/morton "$folder/tests" tests/model/conformance_newest.txt
