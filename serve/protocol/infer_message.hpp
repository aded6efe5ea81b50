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
#include <utility>
#include <vector>

#include "limits/memory_budget.hpp"

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
/// where it is wrong. `held` counts tensors of numbers in JSON; MemoryShort where it cannot.
[[nodiscard]] InferRequest read_infer_request(const std::shared_ptr<const RequestBody>& body,
                                              std::size_t json_bytes, HeldMemory& held);

/// What a request for the repository's index says: whether only models that are ready are wanted.
/// An empty body says no. Throws UsageError.
[[nodiscard]] bool read_index_request(const RequestBody& body);
/// Reads a request to load or unload a model. Throws UsageError where it has parameters that mean
/// something here that is not done.
enum class RepositoryChange : std::uint8_t { load, unload };
void read_change_request(const RequestBody& body, RepositoryChange change);
/// As `read_change_request`, of one parameter.
void require_change_parameter(std::string_view name, RepositoryChange change);

/// A response: its JSON, and behind it the bytes of binary outputs.
struct InferResponse {
  std::string json;
  std::vector<Tensor> binaries;
};

/// What `name`, `version` answered. Outputs that the request asks for and the model has not are the
/// caller's to refuse. `held` counts the response; MemoryShort where it cannot.
[[nodiscard]] InferResponse write_infer_response(const InferRequest& request, std::string_view name,
                                                 std::string_view version,
                                                 std::span<const NamedTensor> outputs,
                                                 HeldMemory& held);

/// The outputs of the response in the order that the request asks for, all where it asks for none,
/// and whether each is binary.
[[nodiscard]] std::vector<std::pair<const NamedTensor*, bool>> chosen_of(
    const InferRequest& request, std::span<const NamedTensor> outputs);

/// {"error": text}
[[nodiscard]] std::string error_json(std::string_view text);

/// A text as JSON, with its quotes. Where it is no UTF-8, each byte that is no ASCII is '?'.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace morton::serve
