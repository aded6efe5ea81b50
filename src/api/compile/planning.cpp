// SPDX-License-Identifier: Apache-2.0
#include "api/compile/planning.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "api/compile/cache_folder.hpp"
#include "api/compile/compiled_state.hpp"
#include "api/compile/tried_kernels.hpp"
#include "base/error.hpp"
#include "catalogue/catalogue.hpp"
#include "launch/library.hpp"
#include "morton/support.hpp"
#include "passes/pipeline.hpp"
#include "plan/lower/library_step.hpp"
#include "plan/lower/split.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/policy/use.hpp"
#include "plan/policy/wanted.hpp"
#include "plan/search/narrow.hpp"
#include "run/runner.hpp"

namespace morton::api {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs of each device that are measured, after one that is not; fewer where they take long.
constexpr int kMeasuredRuns = 7;
constexpr double kMeasuringBudgetMs = 2000.0;

bool has_open_batch(const GraphTensor& input) {
  return !input.declared.empty() && !input.declared.front().symbol.empty();
}

/// The batch of a prepared graph: the first extent of the inputs that leave it open.
std::int64_t batch_of(const Model& model, const Graph& graph) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!has_open_batch(model.graph().tensor(model.graph().inputs[i]))) continue;
    return graph.tensor(graph.inputs[i]).shape.front();
  }
  throw UnsupportedError(
      "split: no input of the model leaves its first extent open, so its batch "
      "cannot be split over devices; use one");
}

/// Names of the open extents that are the batch: those of first extents with its value.
std::set<std::string> batch_symbols(const Model& model, const Graph& graph) {
  std::set<std::string> symbols;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphTensor& declared = model.graph().tensor(model.graph().inputs[i]);
    if (!has_open_batch(declared)) continue;
    const bool same = graph.tensor(graph.inputs[i]).shape.front() == batch_of(model, graph);
    if (same) symbols.insert(declared.declared.front().symbol);
  }
  return symbols;
}

/// The same model with other rows. All open extents are given as shapes: CompileOptions::batch may
/// mean another extent than the first, which is the one that is cut.
CompileOptions with_rows(const Model& model, const Graph& graph, std::int64_t rows,
                         CompileOptions options) {
  const std::set<std::string> symbols = batch_symbols(model, graph);
  options.batch = 0;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphTensor& declared = model.graph().tensor(model.graph().inputs[i]);
    const GraphTensor& bound = graph.tensor(graph.inputs[i]);
    Shape shape = bound.shape;
    bool is_open = false;
    for (std::size_t d = 0; d < std::min(shape.size(), declared.declared.size()); ++d) {
      const std::string& symbol = declared.declared[d].symbol;
      if (symbols.contains(symbol)) shape[d] = rows;
      is_open = is_open || !symbol.empty();
    }
    if (is_open) options.shapes[bound.name] = std::move(shape);
  }
  return options;
}

/// Of several devices none waits while the host computes, so their plans leave the host out where
/// it is not asked for by name; so must what they are compared by.
CompileOptions without_host_steps(CompileOptions options) {
  const auto log = std::exchange(options.log, nullptr);
  const Catalogue catalogue = catalogue_for(options);
  options.log = log;
  PlanOptions named;
  named.use = resolve_use(options.use, catalogue);
  for (const auto& entry : catalogue.entries()) {
    const bool asked_for = is_named(entry.name, entry.family, named);
    if (runs_on_host(entry) && !asked_for) options.exclude.push_back(entry.name);
  }
  return options;
}

/// An equal share of the batch, for comparing devices.
std::int64_t equal_share(std::int64_t batch, std::size_t devices) {
  const auto count = static_cast<std::int64_t>(devices);
  return std::max<std::int64_t>(1, (batch + count - 1) / count);
}

void check_weights(const CompileOptions& options, std::size_t devices) {
  if (options.weights.empty() || options.weights.size() == devices) return;
  throw UsageError("split: " + std::to_string(options.weights.size()) + " weights are given for " +
                   std::to_string(devices) + " devices");
}

double run_ms(Runner& runner) {
  const auto start = Clock::now();
  runner.enqueue();
  runner.wait();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Rows a second of each device, one after the other and in turns, so that a machine that is busy
/// for a while slows all of them.
std::vector<double> measured_speeds(const Model& model, const Graph& graph,
                                    const std::vector<Device>& devices,
                                    const CompileOptions& options, std::int64_t rows) {
  CompileOptions part_options = without_host_steps(with_rows(model, graph, rows, options));
  part_options.weights.clear();
  std::vector<std::unique_ptr<Runner>> runners;
  for (const Device& device : devices) {
    const CompiledModel part = compile(model, device, part_options);
    runners.push_back(
        std::make_unique<Runner>(part.state()->loaded, OpenClDevice::QueueKind::plain));
    for (const PortInfo& input : part.inputs()) {
      runners.back()->write(runners.back()->input(input.name),
                            Tensor::allocate(input.dtype, input.shape));
    }
    static_cast<void>(run_ms(*runners.back()));
  }
  std::vector<std::vector<double>> times_ms(devices.size());
  const auto start = Clock::now();
  for (int run = 0; run < kMeasuredRuns; ++run) {
    for (std::size_t d = 0; d < devices.size(); ++d) times_ms[d].push_back(run_ms(*runners[d]));
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    if (elapsed.count() > kMeasuringBudgetMs) break;
  }
  std::vector<double> speeds;
  for (auto& times : times_ms) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    speeds.push_back(static_cast<double>(rows) / (std::max(*middle, 1e-6) * 1e-3));
  }
  return speeds;
}

PlanOptions::Launches launches_of(CompileOptions::Launches launches) {
  switch (launches) {
    case CompileOptions::Launches::apart:
      return PlanOptions::Launches::apart;
    case CompileOptions::Launches::joined:
      return PlanOptions::Launches::joined;
    case CompileOptions::Launches::joined_for_training:
      break;
  }
  return PlanOptions::Launches::joined_for_states;
}

PlanOptions plan_options_in(const std::filesystem::path& cache, const CompileOptions& options) {
  PlanOptions plan_options;
  plan_options.tuned = tuned_for(options, cache);
  plan_options.workspace_limit_bytes = options.workspace_limit_bytes;
  plan_options.use = options.use;
  plan_options.precision = options.precision;
  plan_options.exclude = options.exclude;
  plan_options.local = options.local;
  for (const auto& [kernel, values] : options.tunables) {
    plan_options.tunables[kernel].insert(values.begin(), values.end());
  }
  plan_options.libraries = available_libraries();
  plan_options.launches = launches_of(options.launches);
  return plan_options;
}

}  // namespace

Catalogue catalogue_for(const CompileOptions& options) {
  Catalogue catalogue = Catalogue::standard();
  for (const auto& file : options.catalogue_files) catalogue.add_file(file);
  if (options.log) {
    for (const auto& [name, why] : catalogue.left_out()) options.log("left out: " + why);
  }
  return catalogue;
}

PlanOptions plan_options_of(const CompileOptions& options) {
  return plan_options_in(cache_folder(options.cache_dir), options);
}

std::shared_ptr<const TunedData> tuned_for(const CompileOptions& options) {
  return tuned_for(options, cache_folder(options.cache_dir));
}

std::shared_ptr<const TunedData> tuned_for(const CompileOptions& options,
                                           const std::filesystem::path& cache) {
  auto data = std::make_shared<TunedData>();
  // What is known to be wrong stays refused, also where nothing that was measured is to count.
  for (const std::string& problem : read_self_test_verdicts(cache, *data)) {
    if (options.log) options.log(problem);
  }
  if (options.tuning == CompileOptions::Tuning::ignore) {
    if (options.tuning_files.empty()) return data;
    throw UsageError("tuning files are given, and tuning data is to be ignored");
  }
  read_shipped_tuning(*data);
  const std::filesystem::path folder = tuning_folder(cache);
  if (!folder.empty()) read_kept_tuning(folder, *data);
  for (const std::string& file : options.tuning_files) read_given_tuning(file, *data);
  return data;
}

PassOptions pass_options_of(const CompileOptions& options) {
  PassOptions pass_options;
  pass_options.batch = options.batch;
  pass_options.shapes = options.shapes;
  pass_options.values = options.values;
  pass_options.skip = options.skip_passes;
  const bool apart = std::any_of(options.use.begin(), options.use.end(),
                                 [](const auto& wanted) { return is_narrow_family(wanted.first); });
  // A kernel for biases or activations is asked for: each must be a step of its own.
  if (apart) pass_options.skip.emplace_back("fuse_epilogues");
  return pass_options;
}

Graph prepared_graph(const Model& model, const CompileOptions& options) {
  require_supported(model);
  Graph graph = model.graph();
  const PassOptions pass_options = pass_options_of(options);
  const PassReport report = run_passes(graph, pass_options);
  if (options.log) options.log(print(report));
  return graph;
}

PlanSetup plan_setup(const CompileOptions& options) {
  return plan_setup(options, cache_folder(options.cache_dir));
}

PlanSetup plan_setup(const CompileOptions& options, const std::filesystem::path& cache) {
  return {catalogue_for(options), plan_options_in(cache, options)};
}

Plan planned(const Graph& graph, const DeviceInfo& device, const PlanSetup& setup,
             const PlanLimits& limits) {
  PlanOptions options = setup.options;
  options.built = limits.built;
  options.missing = limits.missing == CompiledModel::Missing::refuse ? PlanOptions::Missing::refuse
                                                                     : PlanOptions::Missing::build;
  return make_plan(graph, setup.catalogue, device, options);
}

Plan planned(const Graph& graph, const DeviceInfo& device, const CompileOptions& options) {
  return planned(graph, device, plan_setup(options));
}

Plan split_planned(const Model& model, const Graph& graph, const std::vector<DeviceInfo>& devices,
                   const std::vector<std::int64_t>& rows, const CompileOptions& options,
                   const PlanSetup& setup) {
  std::vector<SplitPart> parts;
  for (std::size_t slot = 0; slot < devices.size(); ++slot) {
    Graph part = prepared_graph(model, with_rows(model, graph, rows[slot], options));
    parts.push_back({std::move(part), devices[slot], rows[slot]});
  }
  return make_split_plan(graph, parts, setup.catalogue, setup.options);
}

std::vector<std::int64_t> estimated_rows(const Model& model, const Graph& graph,
                                         const std::vector<DeviceInfo>& devices,
                                         const CompileOptions& options) {
  check_weights(options, devices.size());
  const std::int64_t batch = batch_of(model, graph);
  if (!options.weights.empty()) return share_rows(batch, options.weights);
  const std::int64_t rows = equal_share(batch, devices.size());
  const Graph part = prepared_graph(model, with_rows(model, graph, rows, options));
  PlanSetup setup = plan_setup(options);
  setup.options.host_steps = PlanOptions::HostSteps::where_named;
  std::vector<double> speeds;
  for (const DeviceInfo& device : devices) {
    speeds.push_back(static_cast<double>(rows) / estimated_us(planned(part, device, setup)));
  }
  return share_rows(batch, speeds);
}

void share_batch(const Model& model, const Graph& graph, const std::vector<Device>& devices,
                 const CompileOptions& options, CompileReport& report) {
  check_weights(options, devices.size());
  const std::int64_t batch = batch_of(model, graph);
  const bool given = !options.weights.empty();
  // What cannot be split is said before anything is measured.
  static_cast<void>(share_rows(batch, std::vector<double>(devices.size(), 1.0)));
  const std::int64_t equal = equal_share(batch, devices.size());
  const auto weights =
      given ? options.weights : measured_speeds(model, graph, devices, options, equal);
  const auto rows = share_rows(batch, weights);
  report.weights_source = given ? "given" : "measured, rows a second";
  for (std::size_t slot = 0; slot < devices.size(); ++slot) {
    report.shares.push_back({devices[slot].id(), rows[slot], weights[slot]});
  }
}

std::vector<DeviceInfo> infos_of(const std::vector<Device>& devices) {
  std::vector<DeviceInfo> infos;
  for (const Device& device : devices) infos.push_back(device.implementation()->info());
  return infos;
}

std::vector<std::int64_t> rows_of(const std::vector<DeviceShare>& shares) {
  std::vector<std::int64_t> rows;
  for (const DeviceShare& share : shares) rows.push_back(share.rows);
  return rows;
}

}  // namespace morton::api
