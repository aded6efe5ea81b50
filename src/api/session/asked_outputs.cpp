// SPDX-License-Identifier: Apache-2.0
#include "api/session/asked_outputs.hpp"

#include <utility>

#include "api/session/tensor_front.hpp"
#include "base/error.hpp"

namespace morton::api {

void AskedOutputs::add(const PortInfo& port) {
  places_.push_back(names_.size());
  names_.push_back(&port.name);
  for (const std::string& count : port.counts) {
    if (!count.empty()) names_.push_back(&count);
  }
  ports_.push_back(&port);
}

void AskedOutputs::add_count(const std::string& name) {
  places_.push_back(names_.size());
  names_.push_back(&name);
  ports_.push_back(nullptr);
}

std::vector<Tensor> AskedOutputs::cut(std::vector<Tensor> tensors) const {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    Tensor& tensor = tensors[places_[i]];
    if (ports_[i] == nullptr) {
      outputs.push_back(std::move(tensor));
      continue;
    }
    const PortInfo& port = *ports_[i];
    Shape shape = port.shape;
    std::size_t next = places_[i] + 1;
    for (std::size_t d = 0; d < port.counts.size(); ++d) {
      if (port.counts[d].empty()) continue;
      const auto count = static_cast<std::int64_t>(tensors[next++].at(0));
      if (count < 0 || count > shape[d]) {
        throw InternalError("session: output '" + port.name + "' counts " + std::to_string(count) +
                            " elements, its bound is " + std::to_string(shape[d]));
      }
      shape[d] = count;
    }
    outputs.push_back(front_of(tensor, shape));
  }
  return outputs;
}

}  // namespace morton::api
