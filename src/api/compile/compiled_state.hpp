// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/compile/model_at_shapes.hpp"
#include "api/compile/successor.hpp"
#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "plan/policy/kernel_policy.hpp"

namespace morton::run {
class LoadedPlan;
}

namespace morton::api {

/// A plan for extents that were named when compiling.
struct PlanAtShapes {
  InputShapes shapes;
  std::shared_ptr<const Plan> plan;
};

/// A policy that is made when somebody first asks for it; copies share it.
class LazyPolicy {
 public:
  using Make = std::function<std::shared_ptr<const KernelPolicy>()>;
  LazyPolicy() = default;
  explicit LazyPolicy(Make make) : shared_(std::make_shared<Shared>(std::move(make))) {}

  /// Throws what making it throws.
  [[nodiscard]] const KernelPolicy& get() const {
    std::call_once(shared_->once, [&] { shared_->policy = shared_->make(); });
    return *shared_->policy;
  }

 private:
  struct Shared {
    explicit Shared(Make how) : make(std::move(how)) {}
    Make make;
    std::once_flag once;
    std::shared_ptr<const KernelPolicy> policy;
  };
  std::shared_ptr<Shared> shared_;
};

/// For plans at other extents, on one device: what they are made from, what is built, and the plan
/// whose programs and constants they share (the first of them).
struct ForOtherExtents {
  LazyPolicy policy{};
  std::shared_ptr<const BuiltKernels> built{};
  std::vector<PlanAtShapes> also{};  ///< of CompileOptions::also
  std::shared_ptr<const LoadedPlan> family{};
};

/// What a CompiledModel shares.
struct CompiledState {
  std::vector<Device> devices;  ///< in the plan's order
  /// As loaded: compiling it for another device starts here. Nothing where the compiled model came
  /// from a file.
  std::optional<Model> model;
  CompileOptions options{};  ///< as given; only compiling the model anew reads them
  PassOptions passes{};
  std::vector<PortInfo> inputs{}, outputs{};
  /// Of inputs from whose values shapes follow: what every run must give.
  std::map<std::string, Tensor> planned_values{};
  std::vector<graph::Growth> growths{};  ///< states that runs fill
  CompileReport report{};
  std::shared_ptr<const LoadedPlan> loaded{};
  ForOtherExtents others{};
  std::function<void(const Message&)> log{};  ///< CompileOptions::log
  CompileOptions::Fallback fallback = CompileOptions::Fallback::report;
  CompileOptions::Unkept unkept = CompileOptions::Unkept::report;
  /// Of an interim plan: what takes its place, if anything is to.
  std::shared_ptr<const Successor> successor{};
};

/// What is known of a model before it is planned.
[[nodiscard]] CompiledState state_before_planning(const ModelAtShapes& subject,
                                                  const std::vector<Device>& devices);

/// The model as it states itself, its shapes inferred and its composed operators written out.
/// Throws UsageError where a compiled file is all that there is.
[[nodiscard]] Graph stated_graph(const CompiledState& state);

/// The model with the constants that it is planned with: behind all passes but the fusion of nodes,
/// which a reference computes one by one. Throws likewise.
[[nodiscard]] Graph planned_graph(const CompiledState& state);

}  // namespace morton::api
