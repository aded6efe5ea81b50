// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <morton/tensor.hpp>
#include <string>

namespace morton::serve {

/// Fills a tensor with the numbers of arrays of JSON, nested or not, in their order.
class NumberFiller {
 public:
  /// `place` is what messages call the numbers: "inputs[0].data".
  NumberFiller(Tensor& tensor, const std::string& place) : tensor_(tensor), place_(place) {}

  /// Throws UsageError for what is no number, what the tensor's type does not hold, and too many.
  void take(const simdjson::dom::array& numbers);
  /// Throws UsageError where there were too few.
  void finish() const;

 private:
  void take_one(const simdjson::dom::element& element);
  [[noreturn]] void refuse(const std::string& why) const;

  Tensor& tensor_;
  const std::string& place_;
  std::int64_t next_ = 0;
};

/// Appends a tensor's elements, with commas. NaN and infinities, which JSON has not, are null.
void write_numbers(const Tensor& tensor, std::string& json);

}  // namespace morton::serve
