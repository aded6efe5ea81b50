// SPDX-License-Identifier: Apache-2.0
#include "api/compile/kernel_trial.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "morton/compare.hpp"
#include "run/layer_values.hpp"
#include "run/loaded_plan.hpp"

namespace morton::api {
namespace {

/// Of each product that is compared: some milliseconds of the host's time.
constexpr std::int64_t kMostMultiplications = std::int64_t{2} << 20;
/// A kernel whose smallest layer reads and writes more waits for a smaller model, batch or image.
constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;
/// A kernel's own bound may be wider than its operator's (Winograd's by 8, docs/numerics.md); a
/// wrong result lies further off.
constexpr double kSlack = 8.0;

enum class Signs : std::uint8_t { both, positive };

/// Odd sixteenths between -1 and 1, or between 0 and 2: few sums round and none is divided by zero.
/// Integers and booleans are 0 or 1, which any index may be.
std::vector<NamedTensor> made_up_inputs(const CompiledState& state, Signs signs) {
  constexpr std::uint64_t kSeed = 17;
  std::mt19937_64 generator(kSeed);
  std::vector<NamedTensor> inputs;
  for (const PortInfo& port : state.inputs) {
    const auto planned = state.planned_values.find(port.name);
    if (planned != state.planned_values.end()) {
      inputs.push_back({port.name, planned->second});
      continue;
    }
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    const bool real = port.dtype == DType::f32 || port.dtype == DType::f64 ||
                      port.dtype == DType::f16 || port.dtype == DType::bf16;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const std::uint64_t number = generator();
      const double sixteenths = 2.0 * static_cast<double>(number % 16);
      tensor.set(i, real ? (sixteenths + (signs == Signs::both ? -15.0 : 1.0)) / 16.0
                         : static_cast<double>(number % 2));
    }
    inputs.push_back({port.name, std::move(tensor)});
  }
  return inputs;
}

std::set<std::string> keys_of(const Plan& plan, const PlannedLayer& layer) {
  std::set<std::string> keys;
  for (const Step* step : layer.steps) keys.insert(trial_key(plan, *step));
  return keys;
}

/// What the kernels of a plan are known by.
std::set<std::string> trial_keys(const Plan& plan) {
  std::set<std::string> keys;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) keys.insert(trial_key(plan, step));
  }
  keys.erase("");
  return keys;
}

/// Tries the kernels of one plan.
class Trier {
 public:
  Trier(const std::shared_ptr<CompiledState>& state, const TriedKernels& tried)
      : state_(state), plan_(state->loaded->plan()), tried_(tried) {
    for (std::string& key : untried_keys(plan_, tried)) untried_.insert(std::move(key));
  }

  [[nodiscard]] Trial run() {
    Trial trial;
    // A state's value is the session's, so a layer that reads one cannot be computed again.
    if (untried_.empty() || !plan_.states.empty()) return trial;
    find_layers();
    std::vector<std::string> open = chosen_layers(trial);
    for (const Signs signs : {Signs::both, Signs::positive}) {
      if (open.empty()) break;
      const LayerReport report = compare(open, signs);
      if (std::ranges::any_of(report.layers, [](const auto& layer) { return layer.wrong > 0; })) {
        trial.right.clear();
        trial.wrong = wrong_layers(compare({}, signs));
        return trial;
      }
      for (const LayerComparison& layer : report.layers) {
        if (!shows_something(layer)) continue;
        std::erase(open, layer.name);
        trial.right.merge(keys_of(plan_, layers_.at(layer.name)));
      }
    }
    for (const std::string& key : chosen_) trial.undecided += trial.right.contains(key) ? 0 : 1;
    return trial;
  }

 private:
  void find_layers() {
    std::set<std::string> computed;
    const Graph graph = stated_graph(*state_);
    for (const Node& node : graph.nodes) {
      for (const TensorId id : node.outputs) {
        if (id != kNoTensor) computed.insert(graph.tensor(id).name);
      }
    }
    const auto is_known = [&](const std::string& name) { return computed.contains(name); };
    for (PlannedLayer& layer : planned_layers(plan_, is_known)) {
      layers_.emplace(layer.name, std::move(layer));
    }
  }

  /// Where nothing else is expected than NaN and infinities, a wrong kernel may well give the same.
  static bool shows_something(const LayerComparison& layer) { return layer.finite > 0; }

  /// For each untried kernel the smallest layer that it computes. Those of no layer stay untried.
  [[nodiscard]] std::vector<std::string> chosen_layers(Trial& trial) {
    std::map<std::string, std::pair<std::int64_t, std::string>> smallest;  // by kernel
    for (const auto& [name, layer] : layers_) {
      std::int64_t bytes = 0;
      for (const Step* step : layer.steps) bytes = std::max(bytes, step->cost.logical_bytes);
      for (const std::string& key : keys_of(plan_, layer)) {
        if (!untried_.contains(key)) continue;
        const auto [found, added] = smallest.try_emplace(key, bytes, name);
        if (!added && bytes < found->second.first) found->second = {bytes, name};
      }
    }
    std::set<std::string> chosen;
    for (const std::string& key : untried_) {
      const auto found = smallest.find(key);
      if (found != smallest.end() && found->second.first <= kMostBytes) {
        chosen.insert(found->second.second);
        chosen_.insert(key);
        ++trial.kernels;
      }
    }
    return {chosen.begin(), chosen.end()};
  }

  [[nodiscard]] LayerReport compare(const std::vector<std::string>& only, Signs signs) const {
    LayerOptions options;
    options.most_multiplications = kMostMultiplications;
    options.only = only;
    options.slack = kSlack;
    return compare_layers(Inside::make(state_), made_up_inputs(*state_, signs), options);
  }

  [[nodiscard]] std::vector<WrongLayer> wrong_layers(const LayerReport& report) const {
    std::set<std::string> cleared;
    for (const LayerComparison& layer : report.layers) {
      if (layer.wrong == 0 && shows_something(layer)) {
        cleared.merge(keys_of(plan_, layers_.at(layer.name)));
      }
    }
    std::vector<WrongLayer> wrong;
    for (const LayerComparison& layer : report.layers) {
      if (layer.wrong == 0) continue;
      wrong.push_back({layer.name, layer.first_wrong, suspects(layers_.at(layer.name), cleared)});
    }
    return wrong;
  }

  [[nodiscard]] std::vector<SuspectKernel> suspects(const PlannedLayer& layer,
                                                    const std::set<std::string>& cleared) const {
    std::vector<const Step*> steps = layer.steps;
    std::erase_if(steps, [](const Step* step) { return step->transfer() != nullptr; });
    const auto likelihood = [&](const Step* step) {
      const std::string key = trial_key(plan_, *step);
      const bool suspicious = !cleared.contains(key) && !tried_.contains(key);
      return std::tuple(step->cost.flop > 0, suspicious, step->cost.flop);
    };
    std::ranges::stable_sort(steps, std::greater<>(), likelihood);
    std::vector<SuspectKernel> kernels;
    for (const Step* step : steps) {
      SuspectKernel kernel{step->kernel, step->tunables};
      if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(std::move(kernel));
    }
    return kernels;
  }

  std::shared_ptr<CompiledState> state_;
  const Plan& plan_;
  const TriedKernels& tried_;
  std::set<std::string> untried_, chosen_;
  std::map<std::string, PlannedLayer> layers_;
};

}  // namespace

void add_verdict(const SuspectKernel& suspect, const std::string& why, const DeviceInfo& device,
                 const Catalogue& catalogue, TunedData& verdicts) {
  const Entry* entry = catalogue.find_entry(suspect.kernel);
  if (entry == nullptr) return;
  verdicts.add(Verdict{TunedDevice::of(device), suspect.kernel, entry->program.digest.kernel,
                       suspect.tunables, why, Verdict::Finder::self_test});
}

Message replaced_from_now_on() {
  return "another kernel takes its place, and it is refused on this device and driver from now on "
         "(" +
         setting("cache", "list") + " shows it, " + setting("cache", "clear self-test") +
         " tries it anew)";
}

std::vector<std::string> untried_keys(const Plan& plan, const TriedKernels& tried) {
  std::vector<std::string> untried;
  for (const std::string& key : trial_keys(plan)) {
    if (!tried.contains(key)) untried.push_back(key);
  }
  return untried;
}

Trial try_kernels(const std::shared_ptr<CompiledState>& state, const TriedKernels& tried) {
  return Trier(state, tried).run();
}

}  // namespace morton::api
