// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"

#include <limits>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "formats/onnx/graph_builder.hpp"
#include "formats/onnx/onnx_value_parts.hpp"

namespace morton::formats {
namespace {

Graph import_bytes(RawBytes bytes, const std::string& where, ExternalData& external) {
  ModelScanner scanner(std::move(bytes), where, external);
  ScannedModel scanned = scanner.scan();
  return GraphBuilder(scanned, where, external).build();
}

constexpr std::int64_t kMostValueBytes = std::numeric_limits<int>::max();

NamedTensor tensor_in(std::string_view bytes, ExternalData& external, const std::string& where) {
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw ModelError(where + ": not an ONNX tensor");
  }
  return {proto.name(), to_tensor(proto, nullptr, external, where)};
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Graph import_onnx(const std::filesystem::path& path, const LoadOptions& options) {
  ExternalData external(folder_of(path), options);
  const InputFile opened(path);
  external.budget().require_file(opened.bytes(), path.string());
  const auto file = std::make_shared<const MappedFile>(opened);
  return import_bytes({file->bytes(), file}, path.string(), external);
}

Graph import_onnx(std::string_view bytes, const std::string& where,
                  const std::filesystem::path& folder, const LoadOptions& options) {
  ExternalData external(folder, options);
  external.budget().require_file(static_cast<std::int64_t>(bytes.size()), where);
  return import_bytes({bytes, nullptr}, where, external);
}

NamedTensor read_onnx_tensor(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMostValueBytes);
  if (bytes.empty()) throw ModelError(path.string() + ": not an ONNX tensor");
  ExternalData external(folder_of(path));
  return tensor_in(bytes, external, path.string());
}

std::optional<std::vector<Tensor>> read_onnx_value(const std::filesystem::path& path,
                                                   const ValueForm& form) {
  if (form.is_tensor()) return std::vector{read_onnx_tensor(path).tensor};
  const std::string where = path.string();
  const std::string bytes = read_file(path, kMostValueBytes);
  ExternalData external(folder_of(path));
  const auto messages = tensors_in_value(bytes, form, where);
  if (!messages) return std::nullopt;
  std::vector<Tensor> tensors;
  for (const std::string_view message : *messages) {
    const std::string here = where + ": element " + std::to_string(tensors.size());
    tensors.push_back(tensor_in(message, external, here).tensor);
  }
  return tensors;
}

}  // namespace morton::formats
