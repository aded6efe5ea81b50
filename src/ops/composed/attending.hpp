// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/composed/attention_bias.hpp"
#include "ops/core/graph_writer.hpp"

namespace morton::ops {

/// Attention over f32 operands of four dimensions: what the operators that do it share.
struct Attending {
  TensorId query = kNoTensor;  ///< [batch, heads, queries, length]
  TensorId key = kNoTensor;    ///< [batch, heads of keys, keys, length]
  TensorId value = kNoTensor;  ///< [batch, heads of keys, keys, length of values]
  double scale = 1.0;
  double softcap = 0.0;  ///< 0: none
  KeysSeen seen{};
};

/// What can be asked for besides the result. All but the first two are of the scores' shape.
struct Attended {
  TensorId result = kNoTensor;  ///< [batch, heads, queries, length of values]
  TensorId scores = kNoTensor;
  TensorId capped = kNoTensor;
  TensorId biased = kNoTensor;
  TensorId shares = kNoTensor;
};
/// Which of them is asked for.
enum class ScoresAsked : std::uint8_t { none, plain, capped, biased, shares };

/// The heads of queries that share a head of keys are rows of one product, so no key is copied.
[[nodiscard]] Attended attended(GraphWriter& writer, const Attending& attending,
                                ScoresAsked asked = ScoresAsked::none);

/// [batch, places, heads * length] as [batch, heads, places, length].
[[nodiscard]] TensorId heads_apart(GraphWriter& writer, TensorId value, std::int64_t heads);
/// And back.
[[nodiscard]] TensorId heads_joined(GraphWriter& writer, TensorId value);

}  // namespace morton::ops
