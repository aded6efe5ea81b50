// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/tensor_file.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.hpp"
#include "formats/arrays/idx.hpp"
#include "formats/arrays/npy.hpp"
#include "formats/arrays/r17_matrix.hpp"
#include "formats/image.hpp"
#include "formats/input_file.hpp"
#include "formats/onnx/onnx_import.hpp"

namespace morton::formats {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// "a.idx", "a.idx3", "train-images-idx3-ubyte", each also with ".gz" behind it.
bool is_idx_name(std::string name) {
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::string extension = std::filesystem::path(name).extension().string();
  return extension.starts_with(".idx") ||
         (name.ends_with("-ubyte") && name.find("idx") != std::string::npos);
}

}  // namespace

std::vector<NamedTensor> read_tensors(const std::filesystem::path& path, const LoadLimits& limits) {
  const std::string name = lower_case(path.filename().string());
  const std::string extension = std::filesystem::path(name).extension().string();
  if (extension == ".npz") return read_npz(path);
  if (extension == ".npy") return {{"", read_npy(path)}};
  if (extension == ".pb") return {read_onnx_tensor(path)};
  if (extension == ".json") return {{"", read_r17_matrix(path)}};
  if (extension == ".png" || extension == ".jpg" || extension == ".jpeg") {
    return {{"", read_image(path, limits)}};
  }
  if (is_idx_name(name)) return {{"", read_idx(path)}};
  throw UsageError(
      path.string() +
      ": what this file holds cannot be told from its name; known are .npy, .npz, "
      ".pb, .json (a matrix definition), .png, .jpg, .idx, -idx3-ubyte and the last two "
      "with .gz");
}

Tensor read_tensor(const std::filesystem::path& path) {
  const std::vector<NamedTensor> tensors = read_tensors(path);
  if (tensors.size() == 1) return tensors.front().tensor;
  std::string names;
  for (const NamedTensor& named : tensors) names += " " + in_quotes(named.name);
  throw UsageError(path.string() + ": one tensor is wanted, the file holds " +
                   std::to_string(tensors.size()) + (names.empty() ? "" : ":" + names));
}

void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  const std::string extension = lower_case(path.extension().string());
  if (extension == ".npz") return write_npz(path, tensors);
  if (extension != ".npy") {
    throw UsageError(path.string() + ": tensors are written to .npy and .npz files");
  }
  if (tensors.size() != 1) {
    throw UsageError(path.string() + ": an .npy file holds one tensor, not " +
                     std::to_string(tensors.size()) + "; write an .npz file");
  }
  write_npy(path, tensors.front().tensor);
}

}  // namespace morton::formats
