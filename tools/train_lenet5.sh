#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Trains models/lenet5.onnx with Morton, and writes the answers that tests compare with.
# models/README.md says how the options were chosen.
#
#   ./dev build && tools/train_lenet5.sh
#
# Two minutes on two cores. The answers are ONNX Runtime's: they need numpy and onnxruntime
# (`pip install numpy onnxruntime` in a virtual environment, and PYTHON=that/bin/python).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-python3}
"$python" -c "import numpy, onnxruntime" || {
  echo "train_lenet5.sh: $python has no numpy and onnxruntime; PYTHON names another one" >&2
  exit 1
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Measured peaks and tuned values that this machine has kept would choose other kernels, which round
# otherwise.
export MORTON_CACHE_DIR=$out/cache
build/morton train lenet5 --data data/mnist --seed 1998 --epochs 30 --batch 64 \
  --augment shift=2,rotate=12,scale=10 --lr 0.005 --schedule cosine:warmup=200 \
  --optimizer adamw --weight-decay 0.05 --device cpu --out "$out/trained"
cp "$out/trained/model.onnx" models/lenet5.onnx
"$python" tools/lenet5_answers.py --data data/mnist --model models/lenet5.onnx
build/morton eval models/lenet5.onnx --data data/mnist --device cpu
