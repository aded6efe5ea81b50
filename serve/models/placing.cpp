// SPDX-License-Identifier: Apache-2.0
#include "models/placing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <morton/error.hpp>

namespace morton::serve {
namespace {

std::string names_of(const std::vector<PortInfo>& ports) {
  std::vector<std::string> names;
  for (const PortInfo& port : ports) names.push_back("'" + port.name + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string text_of(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool fits(const Shape& shape, const PortInfo& port) {
  if (shape.size() != port.shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (port.shape[d] >= 0 ? shape[d] != port.shape[d] : shape[d] < 1) return false;
  }
  return true;
}

Pending placed(const InferRequest& request, const ModelPorts& ports) {
  Pending pending;
  for (const PortInfo& port : ports.inputs) {
    const auto found = std::ranges::find(request.inputs, port.name, &NamedTensor::name);
    if (found == request.inputs.end()) throw UsageError("input '" + port.name + "' is missing");
    const Tensor& tensor = found->tensor;
    if (tensor.dtype() != port.dtype) {
      throw UsageError(fmt::format("input '{}' is of type {}, expected {}", port.name,
                                   name_of(tensor.dtype()), name_of(port.dtype)));
    }
    if (!fits(tensor.shape(), port)) {
      throw UsageError(fmt::format("input '{}' has the shape {}, expected {}", port.name,
                                   text_of(tensor.shape()), text_of(port.shape)));
    }
    pending.inputs.push_back(tensor);
    pending.shapes.push_back(tensor.shape());
  }
  if (request.inputs.size() != ports.inputs.size()) {
    for (const NamedTensor& input : request.inputs) {
      if (std::ranges::find(ports.inputs, input.name, &PortInfo::name) != ports.inputs.end())
        continue;
      throw UsageError("the model has no input '" + input.name + "'; it has " +
                       names_of(ports.inputs));
    }
    throw UsageError("an input is given twice");
  }
  if (request.outputs.size() > ports.outputs.size()) {
    throw UsageError(fmt::format("{} outputs are asked for, and the model has {}",
                                 request.outputs.size(), ports.outputs.size()));
  }
  for (const WantedOutput& wanted : request.outputs) {
    if (std::ranges::find(ports.outputs, wanted.name, &PortInfo::name) != ports.outputs.end())
      continue;
    throw UsageError("the model has no output '" + wanted.name + "'; it has " +
                     names_of(ports.outputs));
  }
  if (ports.input_items.empty()) return pending;
  pending.items = pending.shapes[0][ports.input_items[0]];
  if (pending.items > ports.max_batch) {
    throw UsageError(fmt::format("the request has {} items; a batch has {} at most (--max-batch)",
                                 pending.items, ports.max_batch));
  }
  for (std::size_t i = 0; i < pending.shapes.size(); ++i) {
    std::int64_t& items = pending.shapes[i][ports.input_items[i]];
    if (items != pending.items) {
      throw UsageError(fmt::format("input '{}' has {} items, and '{}' has {}", ports.inputs[i].name,
                                   items, ports.inputs[0].name, pending.items));
    }
    items = 1;
  }
  return pending;
}

}  // namespace morton::serve
