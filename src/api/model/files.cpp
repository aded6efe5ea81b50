// SPDX-License-Identifier: Apache-2.0
#include "morton/files.hpp"

#include "formats/arrays/tensor_file.hpp"
#include "formats/onnx/onnx_import.hpp"

namespace morton {
using namespace api;

std::vector<NamedTensor> read_tensors(const std::string& path, const LoadLimits& limits) {
  return read_tensors(std::filesystem::path(path), limits);
}

std::optional<std::vector<Tensor>> read_value(const std::string& path, const ValueForm& form) {
  return read_onnx_value(path, form);
}

void write_tensors(const std::string& path, std::span<const NamedTensor> tensors) {
  write_tensors(std::filesystem::path(path), tensors);
}

}  // namespace morton
