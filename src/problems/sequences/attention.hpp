// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/algebra/chain.hpp"
#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Attention (Vaswani et al., 2017, section 3.2) of B sequences and H heads: each of M queries gets
/// a mean of L values, weighted by the softmax of its scores.
///
///   score[B,H,M,L] = SCALE * sum over d of query[B,H,M,D] * key[B,H,L,D] + mask[E,F,G,S]
///   dst[B,H,M,W] = sum over l of softmax(score)[B,H,M,L] * value[B,H,L,W]
///
/// E is B or 1, F is H or 1, G is M or 1, S is L or 1: where it is 1, one number serves all. The
/// plan makes such problems of products, a softmax and transposes (plan/search/join_attention.hpp).
struct AttentionStructure {
  float scale = 1.0F;  ///< SCALE, as bits

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("SCALE", self.scale);
  }
};

/// What an epilogue does to a product of queries and keys.
struct ScoreRule {
  float scale = 1.0F;      ///< multiplied, or divided by its inverse
  bool is_masked = false;  ///< whether the chain's input 1 is added behind
};

/// The rule of `epilogue`, a chain that scales its input 0 by a constant and adds its input 1, or
/// does one of these or neither; nothing where it is something else.
[[nodiscard]] std::optional<ScoreRule> score_rule_of(const Chain& epilogue);

}  // namespace morton::problems
