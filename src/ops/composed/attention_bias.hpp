// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"

namespace morton::ops {

/// Which keys a query of attention sees. What is not known has the number -1 or no tensor.
struct KeysSeen {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  /// Keys before the first query: a number, or with `lengths` that less the queries.
  std::int64_t before = 0;
  /// i64 [batch,1,1,1]: the keys of each sequence; those behind are padding.
  TensorId lengths = kNoTensor;
  /// Furthest key before and behind a query's own place; -1 is no bound.
  std::int64_t left = -1;
  std::int64_t right = -1;
  /// Of bool: which are seen. Of reals: what is added to their scores. Broadcasts against the
  /// scores.
  TensorId mask = kNoTensor;
};

/// What is added to the scores, and which queries see any key at all.
struct ScoreBias {
  TensorId value = kNoTensor;  ///< f32, -infinity where a key is not seen; none: all are seen
  TensorId alive = kNoTensor;  ///< bool, of one column; none: all queries see a key
};

[[nodiscard]] ScoreBias score_bias(GraphWriter& writer, const KeysSeen& seen);

}  // namespace morton::ops
