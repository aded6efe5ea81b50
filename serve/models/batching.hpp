// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <morton/tensor.hpp>
#include <span>
#include <vector>

#include "models/request.hpp"

namespace morton::serve {

/// The inputs of several requests as one batch of `items`, of which those behind the last request's
/// are zeros. `dimensions` count the items, one for each input. A lone request of as many items is
/// passed on as it is.
[[nodiscard]] std::vector<Tensor> joined_inputs(std::span<const Pending> requests,
                                                std::span<const std::size_t> dimensions,
                                                std::int64_t items);

/// The items `first` to `first + count - 1` of an output: its own bytes where they are one stretch,
/// else a copy. All of it as it is.
[[nodiscard]] Tensor items_of(const Tensor& output, std::size_t dimension, std::int64_t first,
                              std::int64_t count);

/// The least size of batch that holds so many items: a power of two, or `most`.
[[nodiscard]] std::int64_t batch_size_for(std::int64_t items, std::int64_t most);

}  // namespace morton::serve
