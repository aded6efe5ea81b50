// SPDX-License-Identifier: Apache-2.0
#include "morton/files.hpp"

#include "formats/arrays/tensor_file.hpp"

namespace morton {
using namespace api;

std::vector<NamedTensor> read_tensors(const std::string& path) {
  return read_tensors(std::filesystem::path(path));
}

void write_tensors(const std::string& path, std::span<const NamedTensor> tensors) {
  write_tensors(std::filesystem::path(path), tensors);
}

}  // namespace morton
