// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "api/segments/control.hpp"

namespace morton::api {

/// Where the results of a loop's turns lie in an output.
struct StackedOutput {
  std::int64_t axis = 0;   ///< of the output, -1 is its last one
  bool from_back = false;  ///< the last turn's comes first
};

/// A Loop, or a Scan as one.
struct LoopParts {
  std::string op, name;  ///< of the node
  /// Its inputs are a turn's number, a condition, states, and what is the same in all turns. Its
  /// outputs are a condition, states, and what is stacked.
  Graph body;
  std::size_t states = 0;
  std::vector<StackedOutput> stacked{};
  /// Of the node's inputs: those that the body's have their first values of; none of what is not
  /// there, a turn's number and, in a Scan, the condition.
  std::vector<std::optional<std::size_t>> sources{};
  /// Of the node's inputs the one that counts the turns; or the input and its axis that do.
  std::optional<std::size_t> count{};
  std::optional<std::pair<std::size_t, std::int64_t>> counted_axis{};
};

/// Parts of a Loop.
[[nodiscard]] LoopParts loop_parts(const Graph& graph, const Node& node);

/// A loop whose turns the host counts: it calls the body until the condition ends it. Where states
/// keep their shapes they stay on the device, and the host reads the condition alone.
class Turns : public Control {
 public:
  Turns(LoopParts parts, Message why, SegmentContext& context, int depth);
  ~Turns() override;
  std::vector<Tensor> run(const std::vector<const Tensor*>& inputs) override;

 private:
  struct Fed;
  struct Going;

  [[nodiscard]] Going begin(const std::vector<const Tensor*>& inputs) const;
  /// Whether there is another turn. Throws UnsupportedError where there are too many.
  [[nodiscard]] bool goes_on(const Going& going) const;
  /// The body that feeds itself for inputs like these, or nullptr.
  Fed* fed_for(const Values& given);
  void run_fed(Fed& fed, Going& going);
  void run_turn(Going& going);
  [[nodiscard]] std::vector<Tensor> results(Going& going) const;

  SegmentContext& context_;
  LoopParts parts_;
  Message why_;
  Segment body_;
  std::list<Fed> fed_;  ///< the newest first
};

}  // namespace morton::api
