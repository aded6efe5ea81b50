// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/segments/turns.hpp"
#include "ops/core/node_view.hpp"

namespace morton::api {

/// Whether a loop goes on behind a turn, as its body says.
enum class GoesOn : std::uint8_t { always, never, as_data_say };

/// A loop's body as a model that takes its own results as its next turn's inputs.
struct FedBody {
  Graph graph;
  std::map<std::string, std::string> feeds;  ///< CompileOptions::feeds
  /// Of each of the loop's states the one that the model has, or the input that all turns leave as
  /// it is.
  std::vector<std::string> states;
  std::vector<bool> is_fed;  ///< by state
  std::string turn;          ///< the state that counts turns; empty where nothing reads it
  GoesOn goes_on = GoesOn::always;
  std::string condition;  ///< where data say it: an output, or a state where the body reads it
  bool condition_is_state = false;
  std::vector<std::string> stacked;  ///< outputs
};

/// The body of these parts, for inputs of these shapes; nothing where a turn's results are not as
/// its inputs, or a plan needs what turns change.
[[nodiscard]] std::optional<FedBody> fed_body(const LoopParts& parts, const Values& given,
                                              const SegmentContext& context);

/// Types and shapes of a body's results, as far as they follow from those of its inputs.
[[nodiscard]] std::optional<std::vector<TensorType>> body_results(const Graph& body,
                                                                  const Values& given,
                                                                  const SegmentContext& context);

}  // namespace morton::api
