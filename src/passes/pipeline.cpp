// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "base/stopwatch.hpp"
#include "formats/load_limits.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

constexpr auto kRequired = Pass::Need::required;

constexpr std::array kPasses{
    Pass{"bind_shapes", bind_shapes, kRequired},    // open extents become numbers
    Pass{"remove_dead_code", remove_dead_code},     // also outputs that nobody reads (a mask)
    Pass{"infer_shapes", infer_shapes, kRequired},  // every tensor has its type and shape
    Pass{"feed_states", feed_states, kRequired},    // inputs that outputs renew
    Pass{"compute_in_codes", compute_in_codes},     // convolutions of dequantised numbers
    Pass{"keep_codes", keep_codes},                 // products with weights of few bits
    Pass{"expand_composites", expand_composites, kRequired},  // operators that are several others
    Pass{"expand_integer_products", expand_integer_products, kRequired},  // zero points go outside
    Pass{"remove_identities", remove_identities},
    Pass{"fold_constants", fold_constants},
    Pass{"merge_equal_nodes", merge_equal_nodes},        // common subexpressions
    Pass{"fold_expands", fold_expands},                  // into elementwise nodes
    Pass{"eliminate_transposes", eliminate_transposes},  // inverse pairs, through elementwise nodes
    Pass{"fold_pads", fold_pads},                        // into convolutions and pools
    Pass{"fold_batch_norms", fold_batch_norms},          // into weights
    Pass{"fold_gates", fold_gates},                      // of channels, into weights
    Pass{"part_decoding", part_decoding},                // of codes, for each reader
    Pass{"fuse_epilogues", fuse_epilogues},  // elementwise nodes join the node before them
    Pass{"remove_dead_code", remove_dead_code},
    Pass{"cut_nodes", cut_nodes},  // those whose kernels would take too long
};

void check_skipped(const PassOptions& options) {
  for (const auto& name : options.skip) {
    std::string known;
    bool found = false;
    for (const Pass& pass : kPasses) {
      const bool can_be = pass.need == Pass::Need::optional;
      found = found || (pass.name == name && can_be);
      if (can_be && known.find(pass.name) == std::string::npos) {
        known += (known.empty() ? "" : ", ") + std::string(pass.name);
      }
    }
    if (!found) throw UsageError("pass '" + name + "' cannot be skipped; these can: " + known);
  }
}

/// The shapes that are known by now.
void require_limits(const Graph& graph, const LoadLimits& limits, double seconds) {
  require_seconds(limits, seconds, "the passes over the graph");
  // Without an option no shape is known that is larger.
  if (limits.elements >= kMaxElements) return;
  for (const GraphTensor& tensor : graph.tensors) {
    require_elements(limits, tensor.shape, "tensor '" + tensor.name + "'");
  }
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

PassReport run_passes(Graph& graph, const PassOptions& options) {
  check_skipped(options);
  verify(graph, "before the passes");
  PassReport report;
  const Stopwatch all;
  for (std::size_t p = options.begin; p < std::min(options.end, kPasses.size()); ++p) {
    const Pass& pass = kPasses[p];
    PassRecord record{std::string(pass.name)};
    const auto& skip = options.skip;
    record.skipped = std::find(skip.begin(), skip.end(), pass.name) != skip.end();
    if (!record.skipped) {
      const Stopwatch watch;
      record.changes = pass.run(graph, options);
      record.time_ms = watch.milliseconds();
      verify(graph, "after pass " + record.name);
      require_limits(graph, options.limits, all.seconds());
    }
    report.passes.push_back(std::move(record));
  }
  return report;
}

std::string print(const PassReport& report) {
  std::string text;
  for (const auto& record : report.passes) {
    std::array<char, 64> numbers{};
    if (!record.skipped) {
      std::snprintf(numbers.data(), numbers.size(), "%6d changes %9.3f ms", record.changes,
                    record.time_ms);
    }
    std::string name = record.name;
    name.resize(std::max<std::size_t>(name.size(), 18), ' ');
    text += name + (record.skipped ? " skipped" : numbers.data()) + "\n";
  }
  return text;
}

}  // namespace morton::passes
