// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// Several runs of a session, one after the other: what `run --feed OUT:IN --steps N` asks for.
struct RunSteps {
  std::map<std::string, std::string> feeds;  ///< output -> input
  std::int64_t count = 1;
  /// Inputs of which each step takes its part, whole: they have one dimension more than the model's
  /// input, and `count` parts along it.
  std::map<std::string, Tensor> parted;

  /// Inputs that a feed gives, which need no file.
  [[nodiscard]] std::set<std::string> fed() const;
};

/// --feed and --steps, as they are given.
struct StepOptions {
  std::vector<std::string> feeds;  ///< OUTPUT:INPUT
  std::int64_t count = 1;
};
void add_steps(CLI::App& command, StepOptions& options);
/// --feed alone, for commands that run a model as often as they like.
void add_feeds(CLI::App& command, std::vector<std::string>& feeds);
/// Throws UsageError for a --feed that is none.
[[nodiscard]] RunSteps run_steps(const StepOptions& options);

/// Gives fed inputs the extents that the model declares, open where they are: a file may hold less
/// than the most that a state may grow to.
void open_fed(const RunSteps& steps, const std::vector<PortInfo>& declared,
              std::vector<PortInfo>& inputs);

/// The inputs of the compiled model, and those of the model's that are fed: where files are given
/// for them, states begin there.
[[nodiscard]] std::vector<PortInfo> with_fed(const RunSteps& steps, std::vector<PortInfo> compiled,
                                             const std::vector<PortInfo>& given);

/// What feeds name, with the shapes of `compile`: "present_*:past_*" names all such outputs. Throws
/// UsageError for a port that the model does not have, and for a compiled model.
void settle_feeds(RunSteps& steps, const GivenModel& model, CompileOptions& compile);
void set_feeds(const std::vector<std::string>& feeds, const std::vector<PortInfo>& inputs,
               const std::vector<PortInfo>& outputs, CompileOptions& compile);
void set_feeds(const std::vector<std::string>& feeds, const GivenModel& model,
               CompileOptions& compile);

/// Leaves, of the sources of inputs that are parted, the first step's part, and remembers the rest.
void take_parts(RunSteps& steps, const std::vector<PortInfo>& inputs, Sources& sources);

/// Runs all steps. `inputs` are the first step's; those that are fed are where states begin.
/// Outputs have the steps as a dimension in front, where there are several; what is fed has its
/// last value.
[[nodiscard]] std::vector<NamedTensor> run_all(Session& session, const RunSteps& steps,
                                               std::vector<NamedTensor> inputs);

}  // namespace morton::cli
