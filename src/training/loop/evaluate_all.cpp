// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/rooms.hpp"
#include "training/loop/training_loop.hpp"

namespace morton::training {
namespace {

/// The examples that this rank looks at: those before its rows of a batch are others'.
Share examples_of(const Ranks& ranks, std::int64_t examples) {
  if (!ranks.are_several()) return {0, examples};
  const Share& own = ranks.share();
  const std::int64_t first = examples * own.first / ranks.batch();
  return {first, examples * (own.first + own.count) / ranks.batch() - first};
}

void add(BatchResult& all, std::int64_t rows, double loss, std::int64_t right) {
  if (rows == 0) return;
  all.rows += rows;
  all.loss += loss;
  all.right = right < 0 ? -1 : std::max<std::int64_t>(all.right, 0) + right;
}

}  // namespace

BatchResult sum_over_ranks(Ranks& ranks, const BatchResult& own) {
  if (!ranks.are_several()) return own;
  const double numbers[] = {static_cast<double>(own.rows), own.loss,
                            static_cast<double>(own.right)};
  const std::vector<double> each = ranks.gather(numbers);
  BatchResult all;
  for (std::size_t at = 0; at < each.size(); at += std::size(numbers)) {
    add(all, static_cast<std::int64_t>(each[at]), each[at + 1],
        static_cast<std::int64_t>(each[at + 2]));
  }
  return all;
}

BatchResult evaluate_all(Learner& learner, const ExampleWriter& examples, Tensor& inputs,
                         Tensor& targets) {
  Ranks& ranks = learner.ranks();
  const Share part = examples_of(ranks, examples.data().size());
  const std::int64_t end = part.first + part.count;
  BatchResult all;
  for (std::int64_t first = part.first; first < end; first += inputs.shape()[0]) {
    const std::int64_t rows =
        std::min(fill_in_order(examples, first, inputs, targets), end - first);
    const BatchResult some = learner.evaluate(inputs, targets, rows);
    add(all, rows, some.loss * static_cast<double>(rows), some.right);
  }
  all = sum_over_ranks(ranks, all);
  all.loss /= static_cast<double>(all.rows);
  // The largest of outputs that are not finite is no answer.
  if (!std::isfinite(all.loss)) all.right = -1;
  if (std::isnan(all.loss)) all.loss = std::fabs(all.loss);  // one without a sign
  return all;
}

}  // namespace morton::training
