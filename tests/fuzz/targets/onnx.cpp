// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"
#include "fuzz/fuzz_target.hpp"

namespace morton::test {

/// A model's whole file, as loading it reads it, and the graph that comes of it.
void fuzz_onnx(std::string_view bytes) {
  const Graph graph = import_onnx(bytes, "model.onnx");
  verify(graph, "as it was read");
  (void)print(graph);
}

}  // namespace morton::test
