// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "formats/onnx/onnx_import.hpp"
#include "fuzz/fuzz_target.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kForeign = "foreign.";

std::string repeated(std::string_view word, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += word;
  return text;
}

/// A model's folder with two files of weights, and ways out of it to a file that is none of its.
class ModelFolder {
 public:
  ModelFolder() {
    constexpr std::size_t kBytes = 256;
    fs::create_directories(path() / "part");
    write(folder_ / "foreign.bin", repeated(kForeign, kBytes));
    write(path() / "weights.bin", std::string(kBytes, '\1'));
    write(path() / "part/more.bin", std::string(kBytes, '\2'));
    write(path() / "empty.bin", "");
    fs::create_symlink("../foreign.bin", path() / "link.bin");
    fs::create_symlink("..", path() / "up");
    fs::create_symlink("loop.bin", path() / "loop.bin");
  }
  [[nodiscard]] fs::path path() const { return folder_ / "model"; }

 private:
  static void write(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
  }

  TemporaryFolder folder_;
};

bool holds_foreign_bytes(const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.stored()), tensor.bytes());
  return bytes.find(kForeign) != std::string_view::npos;
}

}  // namespace

/// A model whose tensors lie in files beside it. That a file outside of its folder is read is a
/// finding.
void fuzz_external_data(std::string_view bytes) {
  static const ModelFolder kFolder;
  const Graph graph = import_onnx(bytes, "model.onnx", kFolder.path());
  // Bytes that the model's file brings itself are no leak.
  if (bytes.find(kForeign) != std::string_view::npos) return;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant && holds_foreign_bytes(tensor.data)) {
      throw std::logic_error("'" + tensor.name + "' holds bytes of a file outside of the folder");
    }
  }
}

}  // namespace morton::test
