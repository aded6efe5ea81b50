// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// What the model is run with and compared with.
struct Subject {
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> expected;  ///< empty: the reference
  std::string text;                   ///< "the reference in double"
};

/// What `--ref` names, a folder of ONNX's test data or a file of arrays by the names of tensors:
/// arrays that are inputs of the model are given to it, all others compared with. Of a folder, the
/// i-th file belongs to the i-th port. Sets the shapes of the inputs that it brings. Throws
/// UsageError where it does not fit the model, ModelError for damaged files.
[[nodiscard]] Subject read_subject(const std::string& reference, const Model& model,
                                   CompileOptions& compile);

}  // namespace morton::cli
