// SPDX-License-Identifier: Apache-2.0
// morton-compile: compiles kernels for a process that uses libmorton, which starts it.
#include "device/workers/compile_worker.hpp"

int main() { return morton::device::serve_compile_jobs(); }
