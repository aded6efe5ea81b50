// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/planned_model.hpp"

namespace morton::test {

/// Likewise models of ai.onnx.ml: its seeds are such.
void fuzz_trees(std::string_view bytes) { (void)prepared(import_onnx(bytes, "model.onnx")); }

}  // namespace morton::test
