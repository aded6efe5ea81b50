// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "formats/load_budget.hpp"
#include "formats/named_files.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// Bytes of a tensor as a file holds them (little-endian, row-major). Those of a mapped file may be
/// shared, others must be copied.
struct RawBytes {
  std::string_view bytes;
  std::shared_ptr<const MappedFile> file;  ///< that is mapped, or null
};

/// The files beside a model that hold its large tensors, each opened and mapped once; and what is
/// left of the limits while it is loaded.
class ExternalData {
 public:
  /// `folder` is the model's own; empty when there is none, and then every look-up fails unless
  /// the options name a folder. Throws ModelError where they name what is none.
  explicit ExternalData(const std::filesystem::path& folder, const LoadOptions& options = {})
      : named_(folder, options), budget_(options.limits) {}
  [[nodiscard]] LoadBudget& budget() { return budget_; }
  /// The part of a file that `proto.external_data` names, checked to be `bytes` bytes that lie
  /// inside the file. Throws ModelError, and UnsupportedError beyond a limit.
  [[nodiscard]] RawBytes find(const onnx::TensorProto& proto, std::int64_t bytes,
                              const std::string& where);

 private:
  [[nodiscard]] std::shared_ptr<const MappedFile> open(const std::string& location,
                                                       const std::string& where);

  NamedFiles named_;
  LoadBudget budget_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

/// The element type that ONNX numbers `data_type`; throws UnsupportedError for those that Morton
/// lacks and ModelError for numbers that mean nothing.
[[nodiscard]] DType onnx_dtype(std::int32_t data_type, const std::string& where);

/// The tensor of `proto`, whose raw_data, if it was taken out before, is `raw`. `where` names the
/// tensor in messages. Sizes are checked before memory is taken. Throws ModelError,
/// UnsupportedError.
[[nodiscard]] Tensor to_tensor(const onnx::TensorProto& proto, const RawBytes* raw,
                               ExternalData& external, const std::string& where);

}  // namespace morton::formats
