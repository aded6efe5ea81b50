#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD_DIR WORK_DIR
#
# Installs Morton from BUILD_DIR below WORK_DIR, moves the installation, and builds the programs beside
# this script against it, once with find_package and once with pkg-config. One runs LeNet-5 and compares
# its answers, the other is a tool.
set -euo pipefail

build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
models=$here/../../models

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first_place" >"$work/install.log"
# A moved installation must still work: nothing in it may name the place it was installed to.
mv "$work/first_place" "$work/prefix"
prefix=$work/prefix

mkdir "$work/pocl" "$work/programs"
export POCL_CACHE_DIR=$work/pocl MORTON_CACHE_DIR=$work/programs
run() { "$1" "$models/lenet5.onnx" "$models/lenet5.expected.npz"; }

echo "== find_package"
cmake -S "$here" -B "$work/cmake" -G Ninja -D CMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log"
cmake --build "$work/cmake"
run "$work/cmake/consumer"
run "$work/cmake/consumer_c"
"$work/cmake/tool"

echo "== pkg-config"
pc_file=$(find "$prefix" -name morton.pc)
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$pc_file")
# compile SOURCE PACKAGE PROGRAM
compile() {
  local flags
  read -ra flags <<<"$(pkg-config --cflags --libs "$2")"
  "${CXX:-c++}" -std=c++20 "$here/$1" "${flags[@]}" -o "$work/$3"
}
compile main.cpp morton consumer
# A program in C is built by a compiler of C alone.
read -ra c_flags <<<"$(pkg-config --cflags --libs morton)"
"${CC:-cc}" -std=c99 -Wall -Wextra -pedantic -Werror "$here/main.c" "${c_flags[@]}" -o "$work/consumer_c"
compile tool.cpp morton-tools tool
libraries=$(pkg-config --variable=libdir morton)
LD_LIBRARY_PATH=$libraries run "$work/consumer"
LD_LIBRARY_PATH=$libraries run "$work/consumer_c"
LD_LIBRARY_PATH=$libraries "$work/tool"

echo "== program"
"$prefix/bin/morton" --version
