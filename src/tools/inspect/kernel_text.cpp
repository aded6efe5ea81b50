// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/kernel_text.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/compile/job.hpp"
#include "api/compile/model_at_shapes.hpp"
#include "base/error.hpp"
#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "base/text/near_names.hpp"
#include "catalogue/library.hpp"
#include "morton/tools/kernel.hpp"
#include "plan/cost/cost.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/single/single_kernel.hpp"
#include "source/work_program.hpp"

namespace morton {
using namespace tools;
namespace {

/// The part of a kernel's name behind its family.
std::string_view own_name(std::string_view name) { return name.substr(name.find('.') + 1); }

const Entry& entry_named(const std::string& kernel, const Catalogue& catalogue) {
  if (catalogue.find_recipe(kernel) != nullptr) {
    throw UsageError(kernel + " is a recipe, whose steps other kernels compute; " +
                     setting("model") + " shows those of a model's plan");
  }
  const Entry* entry = catalogue.find_entry(kernel);
  if (entry == nullptr) fail_unknown_kernel(kernel, catalogue);
  if (entry->call.library.empty()) return *entry;
  throw UnsupportedError(kernel + " is the routine " + entry->call.routine + " of " +
                         std::string(find_library(entry->call.library)->title) +
                         ", which has no text here");
}

/// Throws UsageError for values of another kernel's tunables.
void check_values(const Entry& entry, const PlanOptions& options) {
  for (const auto& [kernel, values] : options.tunables) {
    if (kernel == entry.name || kernel == entry.origin.batch_of) continue;
    throw UsageError("values are set for " + kernel + ", which is not the kernel that is shown, " +
                     entry.name);
  }
}

/// What an integer argument says; its name tells (source/accessor.hpp, source/joined.hpp).
std::string meaning_of(const std::string& name) {
  if (name == "elements_dst") return "elements of dst in memory, padding included";
  if (name == "part_rows") return "the product of all extents but the last";
  if (name == "part_columns") return "the last extent";
  if (name == "end") return "the first work-group behind this part's";
  if (name.starts_with("groups")) return "work-groups of this part in dimension " + name.substr(6);
  const std::size_t mark = name.rfind('_');
  if (mark == std::string::npos) return "the extent " + name;
  const std::string of = name.substr(0, mark);
  const std::string what = name.substr(mark + 1);
  if (what == "pad") return "the extent " + of + ", padded";
  if (what == "pitch") return "elements of " + of + " from one outermost loop to the next";
  if (what == "batch") return "elements from one product's " + of + " to the next";
  const std::string number = what.substr(std::min<std::size_t>(what.size(), 3));
  if (what.starts_with("pad")) return "extent " + number + " of " + of + " in memory";
  if (what.starts_with("dim")) return "extent " + number + " of the tensor " + of;
  return "the extent " + name;
}

std::string lies_text(const Arrangement& arrangement, std::span<const std::string> dimensions) {
  const bool named = dimensions.size() == arrangement.grouping.size();
  return print(arrangement, named ? dimensions : std::span<const std::string>()) + ", " +
         std::to_string(bytes_of(arrangement)) + " bytes";
}

std::string meaning_of(const InstanceOperand& operand) {
  const bool reads = operand.direction == InstanceOperand::Direction::read;
  const bool generated = operand.access == InstanceOperand::Access::generated;
  return std::string(reads ? "read" : "written") +
         (generated ? " through accessors: " : " by hand: ") +
         lies_text(operand.arrangement, operand.view.dimensions);
}

/// What the kernel gets as its argument `name`, which is memory.
std::string meaning_of(const InstanceSpec& spec, const std::string& name) {
  const auto operand = std::ranges::find(spec.operands, name, &InstanceOperand::name);
  if (operand != spec.operands.end()) return meaning_of(*operand);
  const auto side = std::ranges::find(spec.sides, name, &InstanceOperand::name);
  if (side != spec.sides.end()) {
    return "read through accessors: " + lies_text(side->arrangement, {});
  }
  if (spec.entry->takes_work()) {
    return name == "work"
               ? "the work program, " + std::to_string(work_program(spec).size()) + " words"
               : "a side operand, which this problem has not: the operand again";
  }
  throw InternalError("kernel: no operand " + name);
}

std::vector<KernelArgument> arguments_of(const SingleKernel& kernel) {
  const Environment values = argument_values(kernel.spec);
  std::vector<KernelArgument> arguments;
  for (const InstanceArgument& argument : kernel.source.arguments) {
    if (argument.kind == InstanceArgument::Kind::operand) {
      arguments.push_back(
          {argument.type, argument.name, std::nullopt, meaning_of(kernel.spec, argument.name)});
      continue;
    }
    const auto value = values.find(argument.name);
    if (value == values.end()) {
      throw ModelError(kernel.spec.entry->name + ": nothing is known as the argument '" +
                       argument.name + "'");
    }
    if (value->second > std::numeric_limits<std::int32_t>::max()) {
      throw UnsupportedError(kernel.spec.entry->name + ": " + argument.name + " = " +
                             std::to_string(value->second) + " does not fit 32 bits");
    }
    arguments.push_back({argument.type, argument.name, value->second, meaning_of(argument.name)});
  }
  return arguments;
}

/// "TILE_M=6 TILE_N=64, the entry's standard".
std::string tunables_text(const Environment& values, const std::string& from) {
  const std::string text = print_tunables(values);
  return text.empty() || from.empty() ? text : text + ", " + from;
}

/// Elements that are read, once, and their bytes.
struct Read {
  double elements = 0.0, bytes = 0.0;
};

/// KernelText::work_for_each_byte. Windows read elements again.
double work_for_each(double work, const Read& read, const Environment& structure) {
  constexpr double kWord = 4.0;
  if (read.elements == 0.0) return 1.0 / kWord;
  const double of_element = structure.contains("KH") ? 1.0 : std::max(1.0, work / read.elements);
  return of_element * read.elements / read.bytes;
}

double elements_in(const Arrangement& arrangement) {
  return static_cast<double>(element_count(arrangement.tensor_shape));
}

double bytes_in(const Arrangement& arrangement) {
  return elements_in(arrangement) * static_cast<double>(size_of(arrangement.dtype));
}

void add(const Arrangement& arrangement, Read& read) {
  read.elements += elements_in(arrangement);
  read.bytes += bytes_in(arrangement);
}

/// What the kernel does and moves.
void add_amounts(const SingleKernel& kernel, const DeviceInfo& device, KernelText& text) {
  const Entry& entry = *kernel.spec.entry;
  Read read;
  double written = 0.0;
  for (const InstanceOperand& operand : kernel.spec.operands) {
    if (operand.direction == InstanceOperand::Direction::read) {
      add(operand.arrangement, read);
    } else {
      written += elements_in(operand.arrangement);
    }
    text.bytes += bytes_in(operand.arrangement);
  }
  const Environment names = entry_environment(entry, kernel.spec.problem, kernel.spec.tunables,
                                              device, static_cast<std::int64_t>(written));
  text.work =
      static_cast<double>(operations_of(entry.cost.work, entry, kernel.spec.problem, names));
  text.work_for_each_byte = work_for_each(text.work, read, kernel.spec.problem.structure);
}

KernelText kernel_text_of(const Plan& plan, const Step& step) {
  KernelText text;
  text.step = step.name;
  text.kernel = step.kernel;
  text.family = step.tuned_as.family;
  text.problem = step.problem;
  text.tunables = print_tunables(step.tunables);
  text.global = launch_of(step).global;
  text.local = launch_of(step).local;
  Read read;
  for (const ValueId id : step.reads) add(plan.values[id].arrangement, read);
  text.work = static_cast<double>(step.cost.work);
  text.work_for_each_byte = work_for_each(text.work, read, step.tuned_as.structure);
  text.bytes = static_cast<double>(step.cost.logical_bytes);
  const KernelLaunch* launch = step.launch();
  if (launch == nullptr) return text;
  const InstanceSource& source = plan.instances[launch->instance];
  text.function = source.function;
  text.text = source.text;
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const StepArgument& given = step.arguments[i];
    KernelArgument argument{source.arguments[i].type, given.name, std::nullopt, ""};
    if (const std::int64_t* integer = given.integer()) {
      argument.value = *integer;
      argument.meaning = meaning_of(given.name);
    } else {
      const Value& value = plan.values[given.value()->id];
      argument.meaning = "'" + value.name + "': " + lies_text(value.arrangement, {});
    }
    text.arguments.push_back(std::move(argument));
  }
  return text;
}

}  // namespace

void tools::fail_unknown_kernel(const std::string& kernel, const Catalogue& catalogue) {
  std::vector<std::string_view> names;
  std::vector<std::string> near;
  for (const Entry& entry : catalogue.entries()) {
    names.push_back(entry.name);
    if (own_name(entry.name) == kernel) near.push_back(entry.name);
  }
  if (near.empty()) near = near_names(kernel, names);
  std::string text;
  for (const std::string& name : near) text += (text.empty() ? "; near it: " : ", ") + name;
  throw UsageError("there is no kernel '" + kernel + "'" + text + " (" + setting("kernel_names") +
                   " lists them)");
}

KernelText tools::text_of(const SingleKernel& made, const DeviceInfo& device) {
  KernelText text;
  text.kernel = made.spec.entry->name;
  text.device = device.name;
  text.family = made.spec.problem.family;
  text.problem = print(made.spec.problem);
  text.tunables = tunables_text(*made.choice.tunables, made.choice.tunables_from);
  text.global = made.size.global;
  text.local = made.size.local;
  add_amounts(made, device, text);
  text.function = made.source.function;
  text.arguments = arguments_of(made);
  text.text = made.source.text;
  return text;
}

KernelText kernel_text(const std::string& kernel, const std::map<std::string, std::int64_t>& sizes,
                       const std::string& device_json, const CompileOptions& options) {
  const DeviceInfo device = device_info_from_text(device_json);
  const auto text_with = [&](const Store& store) {
    const auto policy = policy_of(options, store, observer_of(options));
    const Entry& entry = entry_named(kernel, policy->catalogue());
    check_values(entry, policy->options());
    return text_of(single_kernel(entry, {sizes.begin(), sizes.end()}, policy->catalogue(), device,
                                 policy->options()),
                   device);
  };
  const Store store = store_of(options);
  try {
    return text_with(store);
  } catch (const UnsupportedError&) {
    if (store.folder.empty()) throw;
    // One that was found wrong is what people want to look at: without what the folder remembers.
    return text_with({{}, store.tuning_files, store.tuning});
  }
}

std::vector<KernelText> kernel_texts(const Model& model, const std::string& device_json,
                                     const CompileOptions& options) {
  const DeviceInfo device = device_info_from_text(device_json);
  const Job job = job_of(model, options, store_of(options), device);
  const Plan plan = make_plan(job.subject->graph(), device, *job.policy);
  std::vector<KernelText> texts;
  for (const Step& step : plan.steps) {
    texts.push_back(kernel_text_of(plan, step));
    texts.back().device = device.name;
  }
  return texts;
}

std::map<std::string, std::vector<std::string>> kernel_names(
    const std::vector<std::string>& catalogue_files) {
  CompileOptions options;
  options.catalogue_files = catalogue_files;
  const auto catalogue = catalogue_of(options);
  std::map<std::string, std::vector<std::string>> names;
  for (const Entry& entry : catalogue->entries()) {
    if (entry.call.library.empty()) names[entry.family].push_back(entry.name);
  }
  return names;
}

}  // namespace morton
