// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

namespace morton::test {

/// As onnx_passes, models of ai.onnx.ml: its seeds are such.
void fuzz_trees(std::string_view bytes) { fuzz_onnx_passes(bytes); }

}  // namespace morton::test
