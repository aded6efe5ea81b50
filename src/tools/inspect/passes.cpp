// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/passes.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

#include "api/compile/model_at_shapes.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/text/text_diff.hpp"
#include "morton/tools/near_names.hpp"
#include "passes/pipeline.hpp"
#include "passes/sparse_filters.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr int kContextLines = 2;

[[noreturn]] void unknown(const std::string& pass) {
  std::string known;
  std::vector<std::string> listed;
  for (const std::string& name : pass_names()) {
    if (std::find(listed.begin(), listed.end(), name) != listed.end()) continue;
    listed.push_back(name);
    known += (known.empty() ? "" : ", ") + name;
  }
  throw UsageError("there is no pass '" + pass + "' (known: " + known +
                   "; NAME:2 is the second run of a pass)" +
                   did_you_mean(pass.substr(0, pass.find(':')), listed));
}

/// Position in the pipeline of the run that "name" or "name:N" means.
std::size_t find_pass(const std::string& pass) {
  const std::size_t colon = pass.find(':');
  const std::string name = pass.substr(0, colon);
  std::size_t wanted = 0;  // 0: the last
  if (colon != std::string::npos) {
    const char* end = pass.data() + pass.size();
    const auto [stop, error] = std::from_chars(pass.data() + colon + 1, end, wanted);
    if (error != std::errc() || stop != end || wanted == 0) unknown(pass);
  }
  std::size_t runs = 0;
  std::size_t found = 0;
  const std::vector<std::string> names = pass_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    ++runs;
    if (wanted == 0 || runs <= wanted) found = i;
  }
  if (runs == 0 || runs < wanted) unknown(pass);
  return found;
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes()) names.emplace_back(pass.name);
  return names;
}

PassEffect effect_of_pass(const Model& model, const std::string& pass,
                          const CompileOptions& options) {
  PassOptions passes = pass_options_of(options);
  passes.end = find_pass(pass);
  Graph graph = Inside::of(model);
  run_passes(graph, passes);
  PassEffect effect;
  effect.before = print(graph);
  passes.begin = passes.end;
  ++passes.end;
  effect.changes = run_passes(graph, passes).passes.front().changes;
  effect.after = print(graph);
  return effect;
}

Model with_sparse_filters(const Model& model) {
  Graph graph = Inside::of(model);
  spread_subsampling(graph);
  verify(graph, "after making subsampling convolutions");
  return Inside::make(std::move(graph), Inside::limits_of(model));
}

std::string difference(const PassEffect& effect) {
  return text_diff(effect.before, effect.after, kContextLines);
}

}  // namespace morton
