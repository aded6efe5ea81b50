// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cell_budget.hpp"
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
  std::vector<Absent> cut;       ///< a budget allowed fewer samples; without samples: none at all
};

/// What takes part.
struct Entrants {
  /// Each kernel of the problem's family; or `names` and `compile.use` alone, or without those what
  /// the plan chooses.
  enum class Kernels : std::uint8_t { every, as_asked } kernels = Kernels::as_asked;
  std::vector<std::string> names = {};
  CompileOptions compile = {};
  std::size_t sets = 1;                ///< of operands
  const CellBudget* budget = nullptr;  ///< leaves out who would take too long; null: nobody
  std::string label = "";              ///< before what the progress says
};

/// What the plan chooses takes part, under its kernels' names.
[[nodiscard]] bool asks_the_plan(const Entrants& entrants, const std::string& family);

/// Compiles the problem for each kernel and checks each against the expectations; a reduced
/// precision that `compile` does not ask for is tried too. Throws UsageError for a name that the
/// family does not have.
[[nodiscard]] Field make_field(const SingleProblem& problem, const Device& device,
                               const Entrants& entrants,
                               const std::vector<const Expectation*>& expectations);

/// Throws UsageError that says why there is nothing to measure, where there is nothing.
void require_any(const Field& field, const SingleProblem& problem,
                 const std::vector<KernelInfo>& kernels);

/// Adds the peers, checked likewise. Throws as `open_peer` does.
void add_peers(const std::vector<std::string>& names, const PeerRequest& request,
               const std::vector<const Expectation*>& expectations, Field& field);

}  // namespace morton::cli
