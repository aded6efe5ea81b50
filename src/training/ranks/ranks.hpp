// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/communicator.hpp"
#include "training/ranks/share.hpp"

namespace morton::training {

/// What ranks do together. Without a communicator there is one, and nothing is sent.
class Ranks {
 public:
  Ranks() = default;
  /// Throws UsageError for options that contradict each other; what `shares_of` throws.
  Ranks(const RankOptions& options, std::int64_t batch);

  [[nodiscard]] bool are_several() const { return size_ > 1; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Rows of a batch, of all ranks.
  [[nodiscard]] std::int64_t batch() const { return shares_.back().first + shares_.back().count; }
  /// This rank's rows of it.
  [[nodiscard]] const Share& share() const { return shares_.at(static_cast<std::size_t>(rank_)); }

  /// The numbers of every rank, in the order of ranks; all give equally many.
  [[nodiscard]] std::vector<double> gather(std::span<const double> own);
  /// Whether it is so on any rank.
  [[nodiscard]] bool any(bool own);
  /// The first rank's bytes, on every rank.
  [[nodiscard]] std::string from_first(const std::string& bytes);
  /// The sums over all ranks in the place of `values` (RankOptions::Sum), the same bits on every
  /// rank. The first `gradients` of them travel as RankOptions::Wire says, the others as they are.
  void sum(std::span<float> values, std::size_t gradients);

 private:
  /// The values that this rank adds for all others.
  struct Slice {
    std::size_t first = 0, count = 0;
  };
  [[nodiscard]] std::vector<Slice> slices(std::size_t values) const;
  void sum_in_order(std::span<float> values);
  void sum_halves_in_order(std::span<float> values);

  RankOptions options_;
  int rank_ = 0, size_ = 1;
  std::vector<Share> shares_;  ///< of a batch, by rank
  /// Kept from step to step: what the others sent, and halves on their way.
  std::vector<float> received_;
  std::vector<std::byte> sent_halves_, received_halves_;
};

}  // namespace morton::training
