// SPDX-License-Identifier: Apache-2.0
#include "api/compile/job.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/cache/cache_folder.hpp"
#include "api/cache/tried_kernels.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/stopwatch.hpp"
#include "base/text/number_text.hpp"
#include "device/open/opencl_device.hpp"
#include "launch/library.hpp"
#include "passes/cut_nodes.hpp"
#include "plan/make_plan.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/policy/plan_options.hpp"

namespace morton::api {
namespace {

/// Throws UsageError where kernels know no such types.
void check_precision(const CompileOptions::Precision& precision) {
  const auto refuse = [](const char* name, DType type, const char* expected) {
    throw UsageError(setting(name, std::string(name_of(type))) + ": expected " + expected);
  };
  const DType operands = precision.operands, sums = precision.sums;
  const bool known = operands == DType::f32 || operands == DType::f16 || operands == DType::bf16 ||
                     operands == DType::tf32;
  if (!known) refuse("precision", operands, "f32, f16, bf16 or tf32");
  if (sums != DType::f32 && sums != DType::f16) refuse("sums", sums, "f32 or f16");
  if (sums == DType::f16 && operands != DType::f16) {
    throw UsageError(setting("sums", "f16") + " goes with " + setting("precision", "f16"));
  }
}

PlanOptions plan_options_of(const CompileOptions& options, std::shared_ptr<const TunedData> tuned) {
  PlanOptions plan_options;
  check_precision(options.precision);
  plan_options.precision = options.precision.operands;
  plan_options.sums = options.precision.sums;
  if (options.limits.workspace_bytes.value_or(0) < 0) {
    throw UsageError(
        setting("workspace_limit_bytes", std::to_string(*options.limits.workspace_bytes)) +
        ": must not be negative");
  }
  plan_options.workspace_limit_bytes = options.limits.workspace_bytes;
  if (options.limits.weight_bytes.value_or(1) < 1) {
    throw UsageError(setting("weight_limit_bytes", std::to_string(*options.limits.weight_bytes)) +
                     ": expected a number of bytes above 0");
  }
  plan_options.weight_limit_bytes = options.limits.weight_bytes;
  plan_options.use = options.use;
  plan_options.exclude = options.exclude;
  plan_options.local = options.local;
  for (const auto& [kernel, values] : options.tunables) {
    plan_options.tunables[kernel].insert(values.begin(), values.end());
  }
  plan_options.tuned = std::move(tuned);
  plan_options.libraries = available_libraries();
  plan_options.launches = options.launches;
  // Parts of what was cut would share a launch again.
  if (options.limits.kernel_ms) plan_options.launches = JoinedLaunches::apart;
  return plan_options;
}

/// A launch alone takes about as long on many devices.
constexpr double kLeastKernelMs = 0.1;

/// Throws UsageError where the limit is none, or contradicts another option.
void check_max_kernel_ms(const CompileOptions& options) {
  if (!options.limits.kernel_ms) return;
  const double most = *options.limits.kernel_ms;
  if (!(most >= kLeastKernelMs) || !std::isfinite(most)) {
    throw UsageError(setting("max_kernel_ms", exact_text(most)) +
                     ": expected a number of milliseconds, at least 0.1");
  }
  if (options.launches == JoinedLaunches::joined) {
    throw UsageError(setting("launches", "joined") + " does not go with " +
                     setting("max_kernel_ms") + ": kernels that share a launch take longer");
  }
}

/// The node that a step computes, or the first of those, whose names the step's begins with
/// (plan/tasks); none for a step that only moves data.
const Node* node_of(const Graph& graph, const Step& step) {
  if (step.role != Step::Role::compute) return nullptr;
  const Node* longest = nullptr;
  for (const Node& node : graph.nodes) {
    const std::size_t length = node.name.size();
    const bool begins = step.name.starts_with(node.name) &&
                        (step.name.size() == length || step.name[length] == '+' ||
                         step.name[length] == ':' || step.name[length] == ' ');
    if (begins && (longest == nullptr || longest->name.size() < length)) longest = &node;
  }
  return longest;
}

/// The node whose step is the first to read the value.
const Node* reader_of(const Graph& graph, const Plan& plan, ValueId value) {
  for (const Step& step : plan.steps) {
    const auto is_it = [&](ValueId read) { return memory_root(plan.values, read) == value; };
    if (std::ranges::any_of(step.reads, is_it)) return node_of(graph, step);
  }
  return nullptr;
}

/// Into how many parts the node's weights can be cut; 1 for none.
std::int64_t most_parts(const Graph& graph, const Node* node) {
  std::int64_t most = 1;
  if (node == nullptr) return most;
  for (const Cut& cut : cuts_of(graph, *node)) {
    if (cuts_weights(graph, *node, cut)) most = std::max(most, cut.units);
  }
  return most;
}

/// Plans, and cuts the nodes that `add_pieces(graph, plan, passes)` adds to PassOptions::pieces,
/// until it adds none. False where it adds some each time.
template <typename AddPieces>
bool cut_by_plans(Job& job, const DeviceInfo& device, const AddPieces& add_pieces) {
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    const Graph& graph = job.subject->graph();
    PassOptions passes = job.subject->passes();
    add_pieces(graph, make_plan(graph, device, *job.policy), passes);
    if (passes.pieces.size() == job.subject->passes().pieces.size()) return true;
    job.subject = std::make_shared<const ModelAtShapes>(job.subject->model(), std::move(passes));
  }
  return false;
}

/// Cuts the nodes whose weights are too large to take turns, until all weights keep to the limit.
/// Throws UnsupportedError where they cannot.
void fit_weights(Job& job, std::int64_t limit_bytes, const DeviceInfo& device) {
  // Two of them are there at a time, beside those that stay.
  const std::int64_t most_bytes = std::max<std::int64_t>(limit_bytes / 8 * 3, 1);
  const Message limit = setting("weight_limit_bytes", std::to_string(limit_bytes));
  const auto add_pieces = [&](const Graph& graph, const Plan& plan, PassOptions& passes) {
    if (weight_memory(plan) <= limit_bytes) return;
    const std::size_t before = passes.pieces.size();
    std::string uncut;
    for (const ValueId v : plan.values.ids()) {
      const Value& value = plan.values[v];
      if (!is_fixed(value) || value.memory_of || value.bytes <= most_bytes) continue;
      const Node* node = reader_of(graph, plan, v);
      if (value.bytes > most_bytes * most_parts(graph, node)) {
        if (uncut.empty()) {
          uncut = "; '" + value.name + "' has " + std::to_string(value.bytes) +
                  " bytes, which cannot be cut small enough";
        }
        continue;
      }
      passes.pieces[node->name] = ceil_div(value.bytes, most_bytes);
      passes.weights_in_pieces.insert(node->name);
    }
    if (passes.pieces.size() > before) return;
    throw UnsupportedError(limit + ": the weights take " + std::to_string(weight_memory(plan)) +
                           " bytes of the device" + uncut);
  };
  if (cut_by_plans(job, device, add_pieces)) return;
  throw UnsupportedError(limit + ": no way was found to cut the weights so small");
}

/// Cuts the nodes of kernels that would take too long, until there are none, or none that can be
/// cut.
void shorten_kernels(Job& job, double most_ms, const DeviceInfo& device) {
  static_cast<void>(
      cut_by_plans(job, device, [&](const Graph& graph, const Plan& plan, PassOptions& passes) {
        job.too_long.clear();
        for (const Step& step : plan.steps) {
          const double ms = step.cost.estimated_us / 1e3;
          if (ms <= most_ms) continue;
          const Node* node = node_of(graph, step);
          if (node != nullptr && !cuts_of(graph, *node).empty()) {
            passes.pieces[node->name] = static_cast<std::int64_t>(std::ceil(ms / most_ms));
            continue;
          }
          job.too_long.push_back("'" + step.name + "' (" + step.kernel + ") is estimated at " +
                                 exact_text(std::round(ms * 10) / 10) + " ms, beyond " +
                                 setting("max_kernel_ms", exact_text(most_ms)) + ": " +
                                 (node == nullptr ? std::string("it only moves data")
                                                  : node->op + " cannot be cut here"));
        }
      }));
}

}  // namespace

std::shared_ptr<const Catalogue> catalogue_of(const CompileOptions& options) {
  std::shared_ptr<const Catalogue> standard = Catalogue::shared();
  if (options.catalogue_files.empty()) return standard;
  auto longer = std::make_shared<Catalogue>(*standard);
  for (const std::string& file : options.catalogue_files) longer->add_file(file);
  longer->take_by_convention(options.use);
  return longer;
}

Observer observer_of(const CompileOptions& options) { return {options.log, options.progress, {}}; }

Store store_of(const CompileOptions& options) {
  UsableCache cache = usable_cache(cache_folder(options.cache_dir));
  return {std::move(cache.folder), options.tuning_files, options.tuning, std::move(cache.problem)};
}

Store store_of(const CompileOptions& options, const Device& device) {
  if (!options.cache_dir.empty()) return store_of(options);
  return {Inside::of(device)->cache_folder(), options.tuning_files, options.tuning};
}

std::shared_ptr<const TunedData> read_tuned(const Store& store, const Observer& observer) {
  auto data = std::make_shared<TunedData>();
  if (!store.problem.empty()) observer.say(store.problem);
  // What is known to be wrong stays refused, also where nothing that was measured is to count.
  for (const std::string& problem : read_self_test_verdicts(store.folder, *data)) {
    observer.say(problem);
  }
  if (store.tuning == CompileOptions::Tuning::ignore) {
    if (store.tuning_files.empty()) return data;
    throw UsageError("tuning files are given, and tuning data is to be ignored");
  }
  read_shipped_tuning(*data);
  const std::filesystem::path folder = tuning_folder(store.folder);
  if (!folder.empty()) read_kept_tuning(folder, *data);
  for (const std::string& file : store.tuning_files) read_given_tuning(file, *data);
  return data;
}

std::shared_ptr<const KernelPolicy> policy_of(const CompileOptions& options, const Store& store,
                                              const Observer& observer) {
  auto catalogue = catalogue_of(options);
  for (const auto& [name, kernel] : catalogue->left_out()) {
    observer.say("left out: " + kernel.why);
  }
  PlanOptions plan_options = plan_options_of(options, read_tuned(store, observer));
  return std::make_shared<const KernelPolicy>(std::move(catalogue), std::move(plan_options));
}

Job job_of(const Model& model, const CompileOptions& options, const Store& store,
           const DeviceInfo& device) {
  check_max_kernel_ms(options);
  Job job;
  job.observer = observer_of(options);
  job.subject = std::make_shared<const ModelAtShapes>(model, pass_options_of(options, device));
  job.observer.say(print(job.subject->report()));
  const Stopwatch watch;
  job.policy = policy_of(options, store, job.observer);
  job.policy_ms = watch.milliseconds();
  job.also = options.also;
  job.other_shapes = options.other_shapes;
  job.self_test = options.self_test;
  job.fallback = options.fallback;
  job.unkept = options.unkept;
  job.weights = options.weights;
  if (options.limits.weight_bytes) fit_weights(job, *options.limits.weight_bytes, device);
  if (options.limits.kernel_ms) shorten_kernels(job, *options.limits.kernel_ms, device);
  for (const Message& note : job.too_long) job.observer.say(note);
  return job;
}

}  // namespace morton::api
