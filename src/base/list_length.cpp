// SPDX-License-Identifier: Apache-2.0
#include "base/list_length.hpp"

#include "base/error.hpp"

namespace morton {
namespace {

constexpr std::int64_t kLongestList = 10'000;

}  // namespace

void require_list_length(std::int64_t count, const std::string& name) {
  if (count <= kLongestList) return;
  throw UnsupportedError("the list of tensors '" + name + "' has " + std::to_string(count) +
                         " elements; at most " + std::to_string(kLongestList) + " are supported");
}

}  // namespace morton
