// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/alias.hpp"

namespace morton::plan {
namespace {

/// For each dimension of `joined`, the run of `source` dimensions that it joins.
std::optional<Grouping> runs_of(const Shape& joined, const Shape& source) {
  Grouping runs(joined.size());
  std::size_t next = 0;
  for (std::size_t d = 0; d < joined.size(); ++d) {
    std::int64_t product = 1;
    while (product < joined[d] && next < source.size()) {
      product *= source[next];
      runs[d].push_back(static_cast<int>(next++));
    }
    if (product != joined[d]) return std::nullopt;
  }
  // What is left joins the last dimension, if it adds nothing.
  for (; next < source.size(); ++next) {
    if (source[next] != 1 || joined.empty()) return std::nullopt;
    runs.back().push_back(static_cast<int>(next));
  }
  return runs;
}

}  // namespace

std::optional<Arrangement> seen_from_source(const Arrangement& demanded, const Shape& source) {
  const auto runs = runs_of(demanded.tensor_shape, source);
  if (!runs) return std::nullopt;
  Arrangement seen = demanded;
  seen.tensor_shape = source;
  for (auto& group : seen.grouping) {
    JoinedDimensions joined;
    for (const int d : group) joined.append((*runs)[static_cast<std::size_t>(d)]);
    group = joined;
  }
  return seen;
}

}  // namespace morton::plan
