// SPDX-License-Identifier: Apache-2.0
#include "run/run_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// Part `step` along the first dimension, without it.
Tensor part_of(const Tensor& whole, std::int64_t step) {
  const Shape shape(whole.shape().begin() + 1, whole.shape().end());
  Tensor part = Tensor::allocate(whole.dtype(), shape);
  std::memcpy(part.mutable_data(), whole.data() + static_cast<std::size_t>(step) * part.bytes(),
              part.bytes());
  return part;
}

/// Writes `part` into `whole`, whose first dimension has the steps.
void put_part(Tensor& whole, std::int64_t step, const NamedTensor& output) {
  const Tensor& part = output.tensor;
  const Shape first(whole.shape().begin() + 1, whole.shape().end());
  if (part.shape() != first) {
    throw UsageError(fmt::format(
        "--steps: output '{}' is {} in step {}, and was {} before; run its steps one by one",
        output.name, shape_text(part.shape()), step, shape_text(first)));
  }
  std::memcpy(whole.mutable_data() + static_cast<std::size_t>(step) * part.bytes(), part.data(),
              part.bytes());
}

NamedTensor for_steps(const NamedTensor& first, std::int64_t count) {
  Shape shape = first.tensor.shape();
  shape.insert(shape.begin(), count);
  return {first.name, Tensor::allocate(first.tensor.dtype(), shape)};
}

/// What `*` in `pattern` stands for, in the names of the ports that fit it.
std::vector<std::string> parts_of_names(const char* option, const std::string& pattern,
                                        const std::vector<PortInfo>& ports) {
  const std::size_t star = pattern.find('*');
  const std::string before = pattern.substr(0, star);
  const std::string behind = pattern.substr(star + 1);
  std::vector<std::string> parts;
  for (const PortInfo& port : ports) {
    const bool fits = port.name.size() >= before.size() + behind.size() &&
                      port.name.starts_with(before) && port.name.ends_with(behind);
    if (!fits) continue;
    const std::size_t length = port.name.size() - before.size() - behind.size();
    parts.push_back(port.name.substr(before.size(), length));
  }
  if (parts.empty()) throw UsageError(fmt::format("{}: no name is like '{}'", option, pattern));
  return parts;
}

/// The pattern with `part` for its `*`.
std::string with_part(std::string pattern, const std::string& part) {
  const std::size_t star = pattern.find('*');
  return star == std::string::npos ? pattern : pattern.replace(star, 1, part);
}

/// Names the ports that `*` stands for in feeds, and in the names of `shapes`: "present_*:past_*"
/// feeds all such outputs. Throws UsageError where none has such a name.
void name_ports(RunSteps& steps, const std::vector<PortInfo>& inputs,
                const std::vector<PortInfo>& outputs, std::map<std::string, Shape>& shapes) {
  std::map<std::string, std::string> feeds;
  for (const auto& [output, input] : steps.feeds) {
    if (output.find('*') == std::string::npos) {
      feeds.emplace(output, input);
      continue;
    }
    for (const std::string& part : parts_of_names("--feed", output, outputs)) {
      feeds.emplace(with_part(output, part), with_part(input, part));
    }
  }
  steps.feeds = std::move(feeds);
  std::map<std::string, Shape> named;
  for (const auto& [name, shape] : shapes) {
    if (name.find('*') == std::string::npos) {
      named.insert_or_assign(name, shape);
      continue;
    }
    for (const std::string& part : parts_of_names("--shape", name, inputs)) {
      named.emplace(with_part(name, part), shape);
    }
  }
  shapes = std::move(named);
}

/// Throws UsageError for a port that the model does not have.
void require_ports(const RunSteps& steps, const std::vector<PortInfo>& inputs,
                   const std::vector<PortInfo>& outputs) {
  const auto require = [](const std::vector<PortInfo>& ports, const std::string& name,
                          const char* what) {
    std::string names;
    for (const PortInfo& port : ports) {
      if (port.name == name) return;
      names += (names.empty() ? "" : ", ") + port.name;
    }
    throw UsageError(
        fmt::format("--feed: '{}' is no {} of the model, which has {}", name, what, names));
  };
  for (const auto& [output, input] : steps.feeds) {
    require(outputs, output, "output");
    require(inputs, input, "input");
  }
}

/// What the feeds name, with the shapes of `compile`.
void settle(RunSteps& steps, const std::vector<PortInfo>& inputs,
            const std::vector<PortInfo>& outputs, CompileOptions& compile) {
  name_ports(steps, inputs, outputs, compile.shapes);
  require_ports(steps, inputs, outputs);
  compile.feeds = steps.feeds;
}

}  // namespace

std::set<std::string> RunSteps::fed() const {
  std::set<std::string> inputs;
  for (const auto& [output, input] : feeds) inputs.insert(input);
  return inputs;
}

void add_feeds(CLI::App& command, std::vector<std::string>& feeds) {
  command
      .add_option("--feed", feeds,
                  "An input that takes an output's value behind each run, zero at first; a full "
                  "one begins with nothing again; repeatable")
      ->option_text("OUTPUT:INPUT")
      ->allow_extra_args(false);
}

void add_steps(CLI::App& command, StepOptions& options) {
  command
      .add_option("--feed", options.feeds,
                  "An input that takes an output's value behind each step, zero at first unless -i "
                  "gives it; repeatable")
      ->option_text("OUTPUT:INPUT")
      ->allow_extra_args(false);
  command
      .add_option("--steps", options.count,
                  "Run so often; an input with one dimension more has a part for each step, and "
                  "outputs have the steps in front")
      ->option_text("N")
      ->check(whole_number(1));
}

void open_fed(const RunSteps& steps, const std::vector<PortInfo>& declared,
              std::vector<PortInfo>& inputs) {
  const std::set<std::string> fed = steps.fed();
  for (PortInfo& input : inputs) {
    const auto same = std::ranges::find(declared, input.name, &PortInfo::name);
    if (fed.contains(input.name) && same != declared.end()) input.shape = same->shape;
  }
}

std::vector<PortInfo> with_fed(const RunSteps& steps, std::vector<PortInfo> compiled,
                               const std::vector<PortInfo>& given) {
  const std::set<std::string> fed = steps.fed();
  for (const PortInfo& input : given) {
    if (fed.contains(input.name)) compiled.push_back(input);
  }
  return compiled;
}

RunSteps run_steps(const StepOptions& options) {
  RunSteps steps;
  steps.count = options.count;
  for (const std::string& feed : options.feeds) {
    const std::size_t colon = feed.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == feed.size()) {
      throw UsageError(fmt::format("--feed '{}': expected OUTPUT:INPUT", feed));
    }
    const std::string output = feed.substr(0, colon);
    if (!steps.feeds.emplace(output, feed.substr(colon + 1)).second) {
      throw UsageError(fmt::format("--feed: output '{}' feeds two inputs", output));
    }
  }
  return steps;
}

void set_feeds(const std::vector<std::string>& feeds, const std::vector<PortInfo>& inputs,
               const std::vector<PortInfo>& outputs, CompileOptions& compile) {
  RunSteps steps = run_steps({feeds});
  settle(steps, inputs, outputs, compile);
}

void settle_feeds(RunSteps& steps, const GivenModel& model, CompileOptions& compile) {
  if (!steps.feeds.empty() && model.is_compiled()) {
    throw UsageError("--feed: what a compiled model feeds back was decided when it was compiled");
  }
  settle(steps, model.inputs(), model.outputs(), compile);
}

void set_feeds(const std::vector<std::string>& feeds, const GivenModel& model,
               CompileOptions& compile) {
  if (feeds.empty()) return;
  RunSteps steps = run_steps({feeds});
  settle_feeds(steps, model, compile);
}

void take_parts(RunSteps& steps, const std::vector<PortInfo>& inputs, Sources& sources) {
  for (const PortInfo& input : inputs) {
    const auto found = sources.find(input.name);
    if (found == sources.end() || steps.count == 1) continue;
    std::vector<Source>& given = found->second;
    const Shape& shape = given.front().tensor.shape();
    if (given.size() != 1 || given.front().picture || shape.size() != input.shape.size() + 1) {
      continue;
    }
    if (shape.front() != steps.count) {
      throw UsageError(fmt::format(
          "{}: has shape {}, which is {} parts of input '{}', and --steps is {}",
          given.front().file, shape_text(shape), shape.front(), input.name, steps.count));
    }
    steps.parted[input.name] =
        std::exchange(given.front().tensor, part_of(given.front().tensor, 0));
  }
}

std::vector<NamedTensor> run_all(Session& session, const RunSteps& steps,
                                 std::vector<NamedTensor> inputs) {
  const std::set<std::string> fed = steps.fed();
  for (const NamedTensor& input : inputs) {
    if (fed.contains(input.name)) session.set_state(input.name, input.tensor);
  }
  std::erase_if(inputs, [&](const NamedTensor& input) { return fed.contains(input.name); });
  std::vector<NamedTensor> all;
  for (std::int64_t step = 0; step < steps.count; ++step) {
    for (NamedTensor& input : inputs) {
      const auto parted = steps.parted.find(input.name);
      if (parted == steps.parted.end() || step == 0) continue;
      const Tensor part = part_of(parted->second, step);
      input.tensor =
          part.dtype() == input.tensor.dtype() ? part : part.converted(input.tensor.dtype());
    }
    std::vector<NamedTensor> outputs = session.run(inputs);
    if (steps.count == 1) {
      all = std::move(outputs);
      break;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (step == 0) all.push_back(for_steps(outputs[i], steps.count));
      put_part(all[i].tensor, step, outputs[i]);
    }
  }
  for (const auto& [output, input] : steps.feeds) all.push_back({output, session.get_state(input)});
  return all;
}

}  // namespace morton::cli
