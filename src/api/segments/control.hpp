// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/segments/segment.hpp"

namespace morton::api {

/// A node of control flow that the host carries out.
class Control {
 public:
  virtual ~Control() = default;
  /// The results of the node's inputs, in their order; of an input that is not there nullptr.
  /// Throws as SegmentedSession::run.
  [[nodiscard]] virtual std::vector<Tensor> run(const std::vector<const Tensor*>& inputs) = 0;
};

/// Whether `make_control` can make one.
[[nodiscard]] bool is_host_control(const Graph& graph, const Node& node);
/// If, Loop, or Scan. Of what it does the context counts the waits.
[[nodiscard]] std::unique_ptr<Control> make_control(const Graph& graph, const Node& node,
                                                    const Message& why, SegmentContext& context,
                                                    int depth);

}  // namespace morton::api
