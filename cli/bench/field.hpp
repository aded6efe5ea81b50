// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "bench/peers/peer.hpp"
#include "bench/single_problem.hpp"
#include "morton/compile.hpp"

namespace morton::cli {

/// Of those that were to take part, those that do, and what became of the others.
struct Field {
  struct Absent {
    std::string name, why;
  };
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<Absent> rejected;  ///< they cannot compute this problem
  std::vector<Absent> failed;    ///< they should, but the driver or their result is wrong
};

/// What takes part.
struct Entrants {
  /// Each kernel of the problem's family; or `compile.use` alone, or without that what the plan
  /// chooses.
  enum class Kernels : std::uint8_t { every, as_asked } kernels = Kernels::as_asked;
  CompileOptions compile;
  std::size_t sets = 1;  ///< of operands
};

/// Compiles the problem for each kernel and checks each against the expectations; a reduced
/// precision that `compile` does not ask for is tried too. Throws UsageError where nothing is left
/// to measure.
[[nodiscard]] Field make_field(const SingleProblem& problem, const Device& device,
                               const Entrants& entrants,
                               const std::vector<const Expectation*>& expectations);

/// Adds the peers, checked likewise. Throws as `open_peer` does.
void add_peers(const std::vector<std::string>& names, const PeerRequest& request,
               const std::vector<const Expectation*>& expectations, Field& field);

}  // namespace morton::cli
