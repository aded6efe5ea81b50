// SPDX-License-Identifier: Apache-2.0
#include "problems/sequences/recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

using Cell = RecurrenceStructure::Cell;
using Numbers = std::vector<double>;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// One sequence, whose steps are taken one after the other.
class Sequence {
 public:
  Sequence(ProblemReader& problem, std::int64_t n)
      : problem_(problem),
        cell_(problem.structure<RecurrenceStructure>().cell),
        n_(n),
        units_(problem.size("U")),
        h_(state(0)),
        c_(cell_ == Cell::lstm ? state(1) : Numbers(h_.size())),
        let_through_(h_.size()) {}

  void step(std::int64_t t) {
    const Numbers before = h_;
    if (cell_ == Cell::gru) {
      for (std::int64_t u = 0; u < units_; ++u) {
        let_through_[at(u)] = sigmoid(sum(t, 1, u, before)) * before[at(u)];
      }
    }
    for (std::int64_t u = 0; u < units_; ++u) h_[at(u)] = next(t, u, before);
  }

  [[nodiscard]] double value(std::int64_t s, std::int64_t u) const {
    if (s == 0) return h_[at(u)];
    return cell_ == Cell::lstm ? c_[at(u)] : let_through_[at(u)];
  }

  /// The state as it was; nothing was let through.
  void stay() { std::ranges::copy(h_, let_through_.begin()); }

 private:
  [[nodiscard]] static std::size_t at(std::int64_t u) { return static_cast<std::size_t>(u); }

  [[nodiscard]] Numbers state(std::int64_t p) {
    Numbers values;
    for (std::int64_t u = 0; u < units_; ++u) values.push_back(problem_.load("first", {p, n_, u}));
    return values;
  }

  /// What the state adds to a gate's sum.
  [[nodiscard]] double own(std::int64_t gate, std::int64_t u, const Numbers& h) {
    double sum = problem_.load("bias", {gate, u});
    for (std::int64_t k = 0; k < units_; ++k) {
      sum += problem_.load("weights", {gate, u, k}) * h[at(k)];
    }
    return sum;
  }

  [[nodiscard]] double sum(std::int64_t t, std::int64_t gate, std::int64_t u, const Numbers& h) {
    return problem_.load("sums", {t, n_, gate, u}) + own(gate, u, h);
  }

  [[nodiscard]] double next(std::int64_t t, std::int64_t u, const Numbers& h) {
    switch (cell_) {
      case Cell::tanh:
        return std::tanh(sum(t, 0, u, h));
      case Cell::relu:
        return std::max(sum(t, 0, u, h), 0.0);
      case Cell::gru:
      case Cell::gru_behind: {
        const double update = sigmoid(sum(t, 0, u, h));
        const double hidden = cell_ == Cell::gru
                                  ? std::tanh(sum(t, 2, u, let_through_))
                                  : std::tanh(problem_.load("sums", {t, n_, 2, u}) +
                                              sigmoid(sum(t, 1, u, h)) * own(2, u, h));
        return (1.0 - update) * hidden + update * h[at(u)];
      }
      case Cell::lstm:
        break;
    }
    const double kept = sigmoid(sum(t, 2, u, h)) * c_[at(u)];
    c_[at(u)] = kept + sigmoid(sum(t, 0, u, h)) * std::tanh(sum(t, 3, u, h));
    return sigmoid(sum(t, 1, u, h)) * std::tanh(c_[at(u)]);
  }

  ProblemReader& problem_;
  Cell cell_;
  std::int64_t n_;
  std::int64_t units_;
  Numbers h_;
  Numbers c_;
  Numbers let_through_;
};

std::optional<double> recurrence_at(ProblemReader& problem, const Coordinates& at) {
  const std::int64_t steps = problem.size("T");
  const bool from_back =
      problem.structure<RecurrenceStructure>().from == RecurrenceStructure::From::back;
  const double length = problem.load("lengths", {at[2]});
  Sequence sequence(problem, at[2]);
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = from_back ? steps - 1 - i : i;
    if (static_cast<double>(t) < length) {
      sequence.step(t);
    } else {
      sequence.stay();
    }
    if (t == at[1]) break;
  }
  return sequence.value(at[0], at[3]);
}

}  // namespace

std::int64_t RecurrenceStructure::gates() const {
  if (cell == Cell::lstm) return 4;
  return cell == Cell::gru || cell == Cell::gru_behind ? 3 : 1;
}

std::int64_t RecurrenceStructure::states() const { return cell == Cell::lstm ? 2 : 1; }

std::int64_t RecurrenceStructure::results() const {
  return cell == Cell::lstm || cell == Cell::gru ? 2 : 1;
}

ProblemFamily family_recurrence() {
  return {.id = families::recurrence,
          .operands = {{"sums", {"T", "N", "G", "U"}},
                       {"weights", {"G", "U", "K"}},
                       {"bias", {"G", "U"}},
                       {"first", {"P", "N", "U"}},
                       {"lengths", {"N"}},
                       OperandSchema::dst({"S", "T", "N", "U"})},
          .structure = field_names<RecurrenceStructure>(),
          .flop = Expression::parse("2*T*N*G*U*K", "recurrence"),
          .value_at = recurrence_at,
          .mixes = Dimensions{"S", "T", "U"},
          .named_first = {"T", "N", "U"}};
}

ProblemFamily family_parted_recurrence() {
  ProblemFamily family = family_recurrence();
  family.id = families::parted_recurrence;
  const auto dst = family.operands.end() - 1;
  family.operands.insert(dst, {"marks", {"W", "M"}, OperandSchema::Role::changed});
  family.mixes = std::nullopt;
  return family;
}

}  // namespace morton::problems
