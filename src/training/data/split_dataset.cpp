// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/text/number_text.hpp"
#include "formats/datasets/dataset_kinds.hpp"
#include "morton/dataset.hpp"
#include "training/data/epoch_order.hpp"

namespace morton {
using namespace training;
namespace {

/// The examples `chosen` of a tensor [N, ...].
Tensor examples_of(const Tensor& tensor, std::span<const std::uint32_t> chosen) {
  Shape shape = tensor.shape();
  const std::size_t bytes = tensor.bytes() / static_cast<std::size_t>(shape[0]);
  shape[0] = static_cast<std::int64_t>(chosen.size());
  Tensor part = Tensor::allocate(tensor.dtype(), shape);
  std::byte* to = part.mutable_data();
  for (const std::uint32_t example : chosen) {
    std::memcpy(to, tensor.data() + example * bytes, bytes);
    to += bytes;
  }
  return part;
}

Dataset part_of(const Dataset& data, std::span<std::uint32_t> chosen) {
  std::sort(chosen.begin(), chosen.end());
  Dataset part = data;
  part.inputs = examples_of(data.inputs, chosen);
  part.targets = examples_of(data.targets, chosen);
  return part;
}

}  // namespace

std::pair<Dataset, Dataset> split_off(const Dataset& data, double share, std::uint64_t seed) {
  if (!(share > 0.0 && share < 1.0)) {
    throw UsageError(setting("validation") + ": expected a number above 0 and below 1, got " +
                     exact_text(share));
  }
  require_examples(data);
  const auto count =
      static_cast<std::size_t>(std::llround(share * static_cast<double>(data.size())));
  if (count == 0 || count >= static_cast<std::size_t>(data.size())) {
    throw UsageError(data.where + ": of " + std::to_string(data.size()) +
                     " examples a validation share of " + exact_text(share) + " takes " +
                     std::to_string(count) + "; both parts need one at least");
  }
  std::vector<std::uint32_t> order = random_order(data.size(), seed, RandomStream::validation, 0);
  const std::span<std::uint32_t> all(order);
  return {part_of(data, all.subspan(count)), part_of(data, all.first(count))};
}

}  // namespace morton
