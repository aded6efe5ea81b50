#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench/profiling_samples.sh FOLDER
#
# Writes the samples of docs/profiling.md and of `morton probe` in docs/command_line.md into FOLDER,
# all of one processor. Peaks are measured first and kept in FOLDER alone. Nothing else should run
# meanwhile. Run it from the repository's root, behind ./dev build.
set -euo pipefail

folder=${1:?usage: bench/profiling_samples.sh FOLDER}
mkdir -p "$folder"
export MORTON_CACHE_DIR=$folder/cache
build/morton probe >"$folder/probe.txt"
build/morton profile models/lenet5.onnx >"$folder/one_image.txt"
build/morton profile models/lenet5.onnx -b 100 --conv morton >"$folder/hundred_morton.txt"
build/morton profile models/lenet5.onnx -b 100 >"$folder/hundred.txt"
lscpu | grep 'Model name' >"$folder/processor.txt"
uptime >>"$folder/processor.txt"
echo "samples are in $folder; see processor.txt for what else ran"
