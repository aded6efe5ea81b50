// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <morton/model.hpp>
#include <string>
#include <vector>

#include "models/request.hpp"
#include "protocol/infer_message.hpp"

namespace morton::serve {

/// What a model takes and gives, and how requests share a batch of it.
struct ModelPorts {
  std::vector<PortInfo> inputs, outputs;               ///< open extents are -1
  std::vector<std::size_t> input_items, output_items;  ///< dimensions; empty where none is open
  std::int64_t max_batch = 1;
};

/// "[3, -1, 224]"
[[nodiscard]] std::string text_of(const Shape& shape);

/// Whether an input takes the shape.
[[nodiscard]] bool fits(const Shape& shape, const PortInfo& port);

/// The request's inputs in the model's order. Throws UsageError where they do not fit, or the
/// request asks for outputs that the model has not.
[[nodiscard]] Pending placed(const InferRequest& request, const ModelPorts& ports);

}  // namespace morton::serve
