// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <morton/tensor.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace morton::serve {

/// An output that a request asks for, and how it is written.
struct WantedOutput {
  std::string name;
  bool as_binary = false;
};

/// A request of the Open Inference Protocol, version 2, by HTTP: JSON, and behind it the inputs
/// that are binary (Triton's extension for binary tensors).
struct InferRequest {
  std::string id;
  std::vector<NamedTensor> inputs;
  std::vector<WantedOutput> outputs;       ///< empty: all of the model's
  bool outputs_as_binary = false;          ///< of those that say nothing themselves
  std::optional<std::int64_t> timeout_us;  ///< that the client waits, from the request's arrival
};

/// The bytes of a request, with room behind them that the parser of JSON may read.
class RequestBody {
 public:
  /// Of so many bytes, which the caller writes.
  explicit RequestBody(std::size_t bytes);
  [[nodiscard]] std::span<std::byte> bytes() { return {bytes_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};

/// Reads a request. `json_bytes`: where its JSON ends and binary inputs begin. Tensors of binary
/// inputs show the body's own bytes where these are aligned for them. Throws UsageError, which says
/// where it is wrong.
[[nodiscard]] InferRequest read_infer_request(const std::shared_ptr<const RequestBody>& body,
                                              std::size_t json_bytes);

/// A response: its JSON, and behind it the bytes of binary outputs.
struct InferResponse {
  std::string json;
  std::vector<Tensor> binaries;
};

/// What `name`, `version` answered. Outputs that the request asks for and the model has not are the
/// caller's to refuse.
[[nodiscard]] InferResponse write_infer_response(const InferRequest& request, std::string_view name,
                                                 std::string_view version,
                                                 std::span<const NamedTensor> outputs);

/// {"error": text}
[[nodiscard]] std::string error_json(std::string_view text);

/// A text as JSON, with its quotes. Where it is no UTF-8, each byte that is no ASCII is '?'.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace morton::serve
