// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/compare_models.hpp"
#include "morton/dataset.hpp"
#include "morton/model.hpp"

namespace morton::api {

/// The input that examples are shown to. Throws UsageError for a model with other inputs than one
/// of f32, [batch, ...].
[[nodiscard]] PortInfo only_input(const std::vector<PortInfo>& inputs);

/// How many of the examples may be shown: as many as `options` and the data have. Throws UsageError
/// where that is none.
[[nodiscard]] std::int64_t most_examples(const Dataset& data, const ExampleOptions& options);

/// Examples, spread evenly over the data, as that input of `shape`, whose first extent is the
/// batch. Throws UsageError for data that do not fit, and for fewer examples than a batch.
[[nodiscard]] InputRuns runs_of(const std::string& input, const Shape& shape, const Dataset& data,
                                const ExampleOptions& options);

}  // namespace morton::api
