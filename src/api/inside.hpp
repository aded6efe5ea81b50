// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "morton/device.hpp"
#include "morton/model.hpp"
#include "morton/session.hpp"

namespace morton::api {

/// The one friend of the public classes: what they hold, and how Morton's own code makes them.
struct Inside {
  [[nodiscard]] static const Graph& of(const Model& model) { return *model.graph_; }
  [[nodiscard]] static const std::shared_ptr<device::OpenClDevice>& of(const Device& device) {
    return device.device_;
  }
  [[nodiscard]] static const std::shared_ptr<const CompiledState>& of(const CompiledModel& model) {
    return model.state_;
  }
  [[nodiscard]] static Session::State& of(Session& session) { return *session.state_; }

  /// What passes over the model may take.
  [[nodiscard]] static const LoadLimits& limits_of(const Model& model) { return model.limits_; }

  [[nodiscard]] static Model make(Graph graph, const LoadLimits& limits = {}) {
    return Model(std::make_shared<const Graph>(std::move(graph)), limits);
  }
  [[nodiscard]] static Device make(std::shared_ptr<device::OpenClDevice> device) {
    return Device(std::move(device));
  }
  [[nodiscard]] static CompiledModel make(std::shared_ptr<const CompiledState> state) {
    return CompiledModel(std::move(state));
  }
};

}  // namespace morton::api
