// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// trees: dst[s,n,c] = the votes for target c of all trees of range s, walked with row n of
/// src[N,F], added up or the least or the greatest of them. Range s has the trees from s*Q to
/// before (s+1)*Q of the T, where Q = ceil(T/S).
///
/// Trees are 32-bit words. roots[2*t] is the first record of tree t in nodes, roots[2*t+1] how many
/// steps lead from it to the deepest leaf at most. A record is WORDS words: a threshold (one word
/// of f32, two of f64, the lower one first), and what follows it:
///
///     WORDS 2 (f32)          WORDS 3 (f32), 4 (f64)
///     outcomes   4 bits      outcomes  4 bits, feature 28 bits
///     feature    B bits
///     child     28-B bits    child     a word
///
/// The step from a record leads to record `child` of the same tree, or to the one behind it where
/// the bit of what was found is set in `outcomes`: bit 0 the feature is below the threshold, 1
/// equal to it, 2 above it, 3 one of both is NaN. A leaf's outcomes are 0 and its child is itself.
/// Its threshold is its vote where targets are ONE, else the word is the place of its votes in
/// `votes`, two or three words each: 2 * target, plus 1 where more follow; the vote.
struct TreesStructure {
  std::int64_t words = 2;  ///< WORDS
  /// ONE: a single target (C = 1), whose votes are the leaves' thresholds.
  enum class Targets : std::uint8_t { several = 0, one = 1 } targets = Targets::one;
  /// COMBINE: without any vote the least is infinity, and the greatest minus infinity.
  enum class Combine : std::uint8_t { sum = 0, least = 1, greatest = 2 } combine = Combine::sum;

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("WORDS", self.words);
    field("ONE", self.targets);
    field("COMBINE", self.combine);
  }
};

/// What a record says.
struct TreeRecord {
  double threshold = 0.0;
  std::uint32_t first_word = 0;  ///< of the threshold: the place of a leaf's votes
  std::uint32_t outcomes = 0;
  std::int64_t feature = 0;
  std::int64_t child = 0;
};

/// A real in words that `word(i)` gives: one of f32, or two of f64.
template <typename Word>
[[nodiscard]] double real_in_words(const Word& word, std::int64_t at, bool is_f64) {
  const auto bits = [&](std::int64_t i) { return static_cast<std::uint32_t>(word(i)); };
  if (!is_f64) return static_cast<double>(std::bit_cast<float>(bits(at)));
  return std::bit_cast<double>(std::uint64_t{bits(at + 1)} << 32U | bits(at));
}

/// Record number `record` of words that `word(i)` gives, with `bits` of a feature.
template <typename Word>
[[nodiscard]] TreeRecord tree_record(const Word& word, std::int64_t record, std::int64_t words,
                                     std::int64_t bits) {
  const std::int64_t at = record * words;
  const bool is_f64 = words == 4;
  TreeRecord result;
  result.threshold = real_in_words(word, at, is_f64);
  result.first_word = static_cast<std::uint32_t>(word(at));
  const auto packed = static_cast<std::uint32_t>(word(at + (is_f64 ? 2 : 1)));
  result.outcomes = packed & 15U;
  if (words == 2) {
    result.feature = packed >> 4U & ((std::uint32_t{1} << static_cast<unsigned>(bits)) - 1);
    result.child = packed >> static_cast<unsigned>(4 + bits);
  } else {
    result.feature = packed >> 4U;
    result.child = static_cast<std::uint32_t>(word(at + words - 1));
  }
  return result;
}

/// The bit of `outcomes` that a comparison chooses.
[[nodiscard]] inline std::uint32_t tree_outcome(double feature, double threshold) {
  if (feature < threshold) return 0;
  if (feature == threshold) return 1;
  return feature > threshold ? 2 : 3;
}

/// coupling: dst[n,c] = the probability of class c, from src[n,p], the probability that the first
/// class of pair p wins, kept off 0 and 1 by 1e-7: pairs (0,1), (0,2), ..., (1,2), ... The
/// probabilities are those that agree best with all pairs, by the iteration of Wu, Lin and Weng
/// ("Probability estimates for multi-class classification by pairwise coupling", algorithm 2),
/// which stops below 0.005 / C.
struct CouplingStructure {
  std::int64_t classes = 2;  ///< C

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("C", self.classes);
  }
};

/// A pair's probability is kept off 0 and 1.
inline constexpr float kLeastWin = 1e-7F;
inline constexpr float kMostWin = 1.0F - 1e-7F;

/// The iteration, of numbers of type Real.
template <typename Real>
class PairwiseCoupling {
 public:
  /// `wins` in the order of the pairs.
  PairwiseCoupling(const std::vector<Real>& wins, std::int64_t classes)
      : classes_(static_cast<std::size_t>(classes)),
        against_(classes_ * classes_),
        value(classes_, Real{1} / static_cast<Real>(classes)),
        product_(classes_) {
    std::size_t pair = 0;
    for (std::size_t i = 0; i < classes_; ++i) {
      for (std::size_t j = i + 1; j < classes_; ++j, ++pair) {
        // Of f32, as kernels have it.
        at(i, j) = std::clamp(wins[pair], Real{kLeastWin}, Real{kMostWin});
        at(j, i) = Real{1} - at(i, j);
      }
    }
  }

  /// How far the values are from what is sought.
  Real distance() {
    total_ = 0;
    for (std::size_t i = 0; i < classes_; ++i) {
      product_[i] = 0;
      for (std::size_t j = 0; j < classes_; ++j) product_[i] += weight(i, j) * value[j];
      total_ += value[i] * product_[i];
    }
    Real result = 0;
    for (const Real one : product_) result = std::max(result, std::fabs(one - total_));
    return result;
  }

  /// After `distance`.
  void step() {
    for (std::size_t i = 0; i < classes_; ++i) {
      const Real own = weight(i, i);
      const Real change = (total_ - product_[i]) / own;
      const Real scale = Real{1} + change;
      value[i] += change;
      total_ = (total_ + change * (change * own + 2 * product_[i])) / scale / scale;
      for (std::size_t j = 0; j < classes_; ++j) {
        product_[j] = (product_[j] + change * weight(i, j)) / scale;
        value[j] /= scale;
      }
    }
  }

 private:
  Real& at(std::size_t i, std::size_t j) { return against_[i * classes_ + j]; }
  Real weight(std::size_t i, std::size_t j) {
    if (i != j) return -at(j, i) * at(i, j);
    Real sum = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      if (k != i) sum += at(k, i) * at(k, i);
    }
    return sum;
  }

  std::size_t classes_;
  std::vector<Real> against_;  ///< the probability that i wins against j

 public:
  std::vector<Real> value;  ///< the classes' probabilities so far

 private:
  std::vector<Real> product_;
  Real total_ = 0;
};

inline constexpr int kCouplingSteps = 100;
inline constexpr double kCouplingDistance = 0.005;  ///< divided by the classes

}  // namespace morton::problems
