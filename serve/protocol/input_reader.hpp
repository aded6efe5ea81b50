// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <memory>
#include <morton/tensor.hpp>
#include <string>

#include "limits/memory_budget.hpp"
#include "protocol/infer_message.hpp"

namespace morton::serve {

/// Reads the inputs of one request by HTTP.
class InputReader {
 public:
  /// `json_bytes`: where binary inputs begin. `held` counts the tensors that are made.
  InputReader(const std::shared_ptr<const RequestBody>& body, std::size_t json_bytes,
              HeldMemory& held)
      : body_(body), json_bytes_(json_bytes), next_(json_bytes), held_(held) {}

  /// Input `i` of the list. Throws UsageError where it is wrong, and MemoryShort.
  [[nodiscard]] NamedTensor read(const simdjson::dom::element& element, std::size_t i);
  /// Throws UsageError where bytes behind the JSON are left.
  void finish() const;

 private:
  [[nodiscard]] Tensor of_bytes(DType type, const Shape& shape, std::int64_t bytes,
                                const std::string& place);
  [[nodiscard]] Tensor of_numbers(DType type, const Shape& shape,
                                  const simdjson::dom::element& data,
                                  const std::string& place) const;

  const std::shared_ptr<const RequestBody>& body_;
  std::size_t json_bytes_;
  std::size_t next_;  ///< where the next binary input begins
  HeldMemory& held_;
};

}  // namespace morton::serve
