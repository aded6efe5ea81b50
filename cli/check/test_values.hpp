// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// What ONNX's test data hold of one input or output of a model.
struct TestValue {
  PortInfo port;
  /// Of a list its elements; none where an optional value is not there.
  std::optional<std::vector<Tensor>> tensors;

  /// The tensors by the names that they have in a compiled model.
  [[nodiscard]] std::vector<NamedTensor> named() const;
};

/// What the files of a folder hold that are called "<stem>_0.pb" and so on, one for each port.
/// Throws ModelError where there are more or fewer.
[[nodiscard]] std::vector<TestValue> test_values(const std::string& folder, const std::string& stem,
                                                 const std::vector<PortInfo>& ports);

/// The tensors of all of them.
[[nodiscard]] std::vector<NamedTensor> tensors_of(const std::vector<TestValue>& values);

/// Says how many elements the lists among the values have (CompileOptions::shapes).
void take_list_lengths(const std::vector<TestValue>& values, std::map<std::string, Shape>& shapes);

/// ONNX's test data keep bfloat16, which NumPy lacks, as u16: the same bytes.
[[nodiscard]] Tensor as_declared(const Tensor& tensor, DType type);

}  // namespace morton::cli
