// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"

#include <limits>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "formats/onnx/graph_builder.hpp"

namespace morton::formats {
namespace {

Graph import_bytes(RawBytes bytes, const std::string& where, ExternalData& external) {
  ModelScanner scanner(std::move(bytes), where, external);
  ScannedModel scanned = scanner.scan();
  return GraphBuilder(scanned, where, external).build();
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Graph import_onnx(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(InputFile(path));
  ExternalData external(folder_of(path));
  return import_bytes({file->bytes(), file}, path.string(), external);
}

Graph import_onnx(std::string_view bytes, const std::string& where,
                  const std::filesystem::path& folder) {
  ExternalData external(folder);
  return import_bytes({bytes, nullptr}, where, external);
}

NamedTensor read_onnx_tensor(const std::filesystem::path& path) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const std::string bytes = read_file(path, kMost);
  onnx::TensorProto proto;
  if (bytes.empty() || !proto.ParseFromString(bytes)) {
    throw ModelError(path.string() + ": not an ONNX tensor");
  }
  ExternalData external(folder_of(path));
  return {proto.name(), to_tensor(proto, nullptr, external, path.string())};
}

}  // namespace morton::formats
