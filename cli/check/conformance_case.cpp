// SPDX-License-Identifier: Apache-2.0
#include "check/conformance_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "check/conformance_disputes.hpp"
#include "check/test_values.hpp"
#include "common/inputs.hpp"
#include "common/option_names.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"
#include "morton/model.hpp"
#include "morton/segments.hpp"
#include "morton/session.hpp"
#include "morton/value_form.hpp"

namespace morton::cli {
namespace {

namespace fs = std::filesystem;
using CaseOutcome = ConformanceResult::Outcome;

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

/// Two units in the last place of 16-bit reals are more: ONNX's own runner allows them of bf16.
double relative_of(DType type) {
  if (type == DType::bf16) return 0x1p-6;
  return type == DType::f16 ? 0x1p-9 : kRelative;
}

std::vector<fs::path> data_sets_of(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (;;) {
    fs::path set = folder / fmt::format("test_data_set_{}", sets.size());
    if (!fs::is_directory(set)) return sets;
    sets.push_back(std::move(set));
  }
}

/// The options with the shapes that the model leaves open, what its lists hold, and the values that
/// planning needs.
CompileOptions fitted(const Model& model, const std::vector<TestValue>& inputs,
                      CompileOptions options) {
  const std::vector<std::string> planned = model.summary().planned_inputs;
  take_list_lengths(inputs, options.shapes);
  for (const TestValue& input : inputs) {
    const PortInfo& port = input.port;
    const bool open = std::ranges::any_of(port.shape, [](auto extent) { return extent < 0; });
    const bool needed = is_among(planned, port.name);
    for (const NamedTensor& tensor : input.named()) {
      if (open || !port.form.is_tensor()) options.shapes[tensor.name] = tensor.tensor.shape();
      if (needed) options.values[tensor.name] = tensor.tensor;
    }
  }
  return options;
}

bool agrees(double got, double expected, double relative) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::fabs(got - expected) <= kAbsolute + relative * std::fabs(expected);
}

/// What is wrong with an output; empty when nothing is.
std::string difference(const NamedTensor& got, const Tensor& expected) {
  const Tensor& value = got.tensor;
  if (value.dtype() != expected.dtype() || value.shape() != expected.shape()) {
    return fmt::format("'{}' is {} {}, expected {} {}", got.name, name_of(value.dtype()),
                       shape_text(value.shape()), name_of(expected.dtype()),
                       shape_text(expected.shape()));
  }
  std::int64_t wrong = 0;
  std::int64_t first = 0;
  for (std::int64_t i = value.size(); i-- > 0;) {
    if (agrees(value.at(i), expected.at(i), relative_of(value.dtype()))) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return {};
  return fmt::format("'{}': {} of {} elements differ, the first at {}: {:.8g}, expected {:.8g}",
                     got.name, wrong, value.size(), first, value.at(first), expected.at(first));
}

/// Those among the outputs that the list consists of.
std::size_t length_of(const std::string& list, const std::vector<NamedTensor>& outputs) {
  return static_cast<std::size_t>(std::ranges::count_if(outputs, [&](const NamedTensor& output) {
    const auto element = as_list_element(output.name);
    return element && element->list == list;
  }));
}

std::string differences(const std::vector<NamedTensor>& got,
                        const std::vector<TestValue>& expected) {
  for (const TestValue& value : expected) {
    const std::size_t length = value.port.form.is_list ? length_of(value.port.name, got) : 0;
    const std::size_t wanted = value.tensors ? value.tensors->size() : 0;
    if (value.port.form.is_list && length != wanted) {
      return fmt::format("'{}' has {} elements, expected {}", value.port.name, length, wanted);
    }
  }
  const std::vector<NamedTensor> tensors = tensors_of(expected);
  if (got.size() != tensors.size()) {
    return fmt::format("{} outputs, expected {}", got.size(), tensors.size());
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Tensor wanted = as_declared(tensors[i].tensor, got[i].tensor.dtype());
    std::string text = difference(got[i], wanted);
    if (!text.empty()) return text;
  }
  return {};
}

/// What the host does when a model is planned.
bool is_shape_arithmetic(const std::string& op) {
  constexpr std::array kOperators{"Shape", "Size", "Range", "ConstantOfShape", "Constant"};
  return std::ranges::find(kOperators, op) != kOperators.end();
}

/// Whether it computes nothing but shapes, and at most chooses and lists them.
bool is_of_shapes(const std::string& op) {
  constexpr std::array kChoosing{"Identity", "If", "Loop"};
  return is_shape_arithmetic(op) || op.starts_with("Sequence") ||
         std::ranges::find(kChoosing, op) != kChoosing.end();
}

/// Whether the device has computed, or nothing was to be computed.
CaseOutcome place_of(const CompiledModel& compiled, const ModelSummary& summary) {
  bool any = false;
  for (const StepInfo& step : compiled.steps()) {
    if (step.place == StepInfo::Place::host) return CaseOutcome::host;
    any = any || step.role == StepInfo::Role::compute;
  }
  const bool planned = std::ranges::any_of(
      summary.operators, [](const auto& counted) { return is_shape_arithmetic(counted.first); });
  return any || !planned ? CaseOutcome::device : CaseOutcome::host;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Answer {
  CaseOutcome outcome;
  std::vector<NamedTensor> outputs;
};

/// By one plan, or in segments where the model has none.
Answer answer(const Model& model, const Device& device, const CompileOptions& options,
              const std::vector<NamedTensor>& inputs) {
  try {
    const CompiledModel compiled = compile(model, device, options);
    Session session(compiled);
    return {place_of(compiled, model.summary()), session.run(inputs)};
  } catch (const NeedsSegments&) {
    SegmentedSession session(model, device, options);
    return {CaseOutcome::device, session.run(inputs)};
  }
}

void run_all(const fs::path& folder, const Device& device, const CompileOptions& options,
             ConformanceResult& result) {
  const Model model = Model::load((folder / "model.onnx").string());
  const ModelSummary summary = model.summary();
  if (summary.operators.size() == 1) result.operators = summary.operators.front().first;
  result.shapes_alone = std::ranges::all_of(
      summary.operators, [](const auto& counted) { return is_of_shapes(counted.first); });
  if (!summary.unsupported.empty()) throw UnsupportedError(summary.unsupported.front().second);
  const std::vector<PortInfo> ports = model.inputs();
  const std::vector<PortInfo> results = model.outputs();
  for (const fs::path& set : data_sets_of(folder)) {
    const std::vector<TestValue> inputs = test_values(set.string(), "input", ports);
    const auto [outcome, outputs] =
        answer(model, device, fitted(model, inputs, options), tensors_of(inputs));
    result.reason = differences(outputs, test_values(set.string(), "output", results));
    if (!result.reason.empty()) return;
    result.outcome = outcome;
  }
}

}  // namespace

const char* word_of(CaseOutcome outcome) {
  switch (outcome) {
    case CaseOutcome::device:
      return "device";
    case CaseOutcome::host:
      return "host";
    case CaseOutcome::unsupported:
      return "unsupported";
    case CaseOutcome::disputed:
      return "disputed";
    case CaseOutcome::failed:
      break;
  }
  return "failed";
}

std::vector<fs::path> find_conformance_cases(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw UsageError(folder.string() + ": is no folder");
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool complete = fs::exists(entry.path() / "model.onnx") &&
                          fs::is_directory(entry.path() / "test_data_set_0");
    if (complete) cases.push_back(entry.path());
  }
  std::ranges::sort(cases);
  if (cases.empty() && fs::exists(folder / "model.onnx")) {
    throw UsageError(folder.string() + " is one test: name its parent, with --filter " +
                     folder.filename().string());
  }
  if (cases.empty()) {
    throw UsageError(folder.string() +
                     ": holds no test (a folder with model.onnx and test_data_set_0)");
  }
  return cases;
}

ConformanceResult run_conformance_case(const fs::path& folder, const Device& device,
                                       const CompileOptions& options) {
  ConformanceResult result;
  result.name = folder.filename().string();
  result.operators = "several";
  try {
    run_all(folder, device, options, result);
  } catch (const UnsupportedError& error) {
    result.outcome = CaseOutcome::unsupported;
    result.reason = first_line(message_of(error));
  } catch (const Error& error) {
    result.outcome = CaseOutcome::failed;
    result.reason = first_line(message_of(error));
  } catch (const std::exception& error) {
    result.outcome = CaseOutcome::failed;
    result.reason = first_line(error.what());
  }
  const std::string_view dispute = dispute_over(result.name);
  if (result.outcome == CaseOutcome::failed && !dispute.empty()) {
    result.outcome = CaseOutcome::disputed;
    result.reason += " (" + std::string(dispute) + ")";
  }
  return result;
}

}  // namespace morton::cli
