// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

namespace morton::test {

/// Likewise models of ai.onnx.ml: its seeds are such.
void fuzz_trees(std::string_view bytes) { fuzz_onnx(bytes); }

}  // namespace morton::test
