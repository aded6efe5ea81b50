// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/export.hpp"
#include "morton/model.hpp"

namespace morton {

/// Names of the passes that rewrite a model before it is planned, in the order in which they run; a
/// pass may run more than once.
[[nodiscard]] MORTON_API std::vector<std::string> pass_names();

/// The changes of one pass to a model's graph.
struct PassEffect {
  std::string before, after;  ///< the graph as text
  int changes = 0;            ///< as the pass counts them
};

/// Runs the passes of `options` (batch, shapes, skip_passes) up to and including the one named
/// `pass`: its last run where it runs more than once, or its N-th for "name:N". Throws UsageError
/// that lists the names, and what the passes throw.
[[nodiscard]] MORTON_API PassEffect effect_of_pass(const Model& model, const std::string& pass,
                                                   const CompileOptions& options = {});

/// The model with subsampling layers (AveragePool, then a factor and maybe a bias for each channel)
/// as convolutions with sparse filters, as R18 runs them by CLBlast, which knows no pooling.
[[nodiscard]] MORTON_API Model with_sparse_filters(const Model& model);

/// The difference between both texts in the way of `diff -u`; empty where there is none.
[[nodiscard]] MORTON_API std::string difference(const PassEffect& effect);

}  // namespace morton
