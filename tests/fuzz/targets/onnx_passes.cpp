// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/planned_model.hpp"

namespace morton::test {

/// A model, up to where kernels are chosen.
void fuzz_onnx_passes(std::string_view bytes) { (void)prepared(import_onnx(bytes, "model.onnx")); }

}  // namespace morton::test
