// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/cache/tried_kernels.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::api {

struct CompiledState;

/// A kernel with the values that it was built with.
struct SuspectKernel {
  std::string kernel;
  Environment tunables;

  bool operator==(const SuspectKernel&) const = default;
};

/// Notes for later processes that the kernel is refused on this device and driver, unless the
/// catalogue has none of that name.
MORTON_FOR_TOOLS void add_verdict(const SuspectKernel& suspect, const std::string& why,
                                  const DeviceInfo& device, const Catalogue& catalogue,
                                  TunedData& verdicts);
/// What a report says behind the reason: that another kernel takes its place, and how it is undone.
[[nodiscard]] Message replaced_from_now_on();

/// A layer that was computed wrongly.
struct WrongLayer {
  std::string name;
  std::string first_wrong;  ///< LayerComparison::first_wrong
  /// The kernels that compute it, the likeliest first: those that compute before those that only
  /// move, and of either those that no right layer or earlier trial clears, by their work.
  std::vector<SuspectKernel> suspects;
};

/// What a trial of one plan found.
struct Trial {
  int kernels = 0;              ///< that were tried
  int undecided = 0;            ///< of those: whose layers showed nothing, so they stay untried
  std::set<std::string> right;  ///< keys of the others (trial_key), where nothing is wrong
  std::vector<WrongLayer> wrong;
};

/// Tries the kernels of a model on one device that are new there: the model runs once on made-up
/// inputs, and for each kernel the smallest layer that it computes is compared with the reference;
/// where one is wrong, all layers are. A layer of which no finite element can be checked (a root of
/// negative numbers) shows nothing; it is computed once more from positive inputs. Of a model with
/// state nothing is tried, nor what computes large layers only.
[[nodiscard]] Trial try_kernels(const std::shared_ptr<CompiledState>& state,
                                const TriedKernels& tried);

/// The keys of the plan's kernels that were not tried (trial_key), in order.
[[nodiscard]] std::vector<std::string> untried_keys(const Plan& plan, const TriedKernels& tried);

}  // namespace morton::api
