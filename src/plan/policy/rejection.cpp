// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/rejection.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "catalogue/library.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/policy/work_group.hpp"

namespace morton::plan {
namespace {

std::string texels_text(const ImageExtents& image) {
  return std::to_string(image.texels) + " x " + std::to_string(image.rows);
}

/// What each kind of reason says.
struct ReasonText {
  Message operator()(const NotConsidered& reason) const {
    using Why = NotConsidered::Why;
    switch (reason.why) {
      case Why::excluded:
        return "it is excluded by " + setting("exclude");
      case Why::left_out:
        return "it computes wrongly";
      case Why::packs_one_layout:
        return "it packs one layout, and a step's reader names it";
      case Why::writes_the_whole:
        return "it writes the whole of its result";
      case Why::writes_a_part:
        return "it writes a part of its result";
      case Why::computes_with_f64:
        return "it computes with f64; the device lacks cl_khr_fp64";
      case Why::host_is_waited_for:
        return "while the host computes for one device, the others wait for it";
      case Why::host_not_measured:
        return "no measured host rate; " + setting("probe") + " measures it";
      case Why::other_steps:
        return "these extents lead to other steps";
    }
    throw InternalError("rejection: a reason without a text");
  }
  Message operator()(const NotNamed& reason) const {
    return "it is considered only where " + setting("use", reason.family + "=" + reason.name) +
           " asks for it";
  }
  Message operator()(const MissingLibrary& reason) const {
    const Library* library = find_library(reason.library);
    return "this build has no " + std::string(library->title) + "; install " +
           std::string(library->package) + " and rebuild";
  }
  Message operator()(const OtherPrecision& reason) const {
    const std::string type(name_of(reason.stored));
    return "it keeps " + reason.role + " as " + type + ", which needs " +
           setting("precision", type);
  }
  Message operator()(const OtherSums&) const {
    return "it adds up products in f16, which needs " + setting("sums", "f16");
  }
  Message operator()(const WrongType& reason) const {
    return "its operand " + reason.role + " cannot be " + std::string(name_of(reason.type));
  }
  Message operator()(const FewBits& reason) const {
    return "its transforms need " + std::to_string(reason.needed) +
           " significant bits, more than numbers in " + std::string(name_of(reason.type)) + " have";
  }
  Message operator()(const RefusedValues& reason) const {
    return (reason.tunables.empty() ? "it" : print_tunables(reason.tunables)) +
           " is refused on this device: " + reason.verdict;
  }
  Message operator()(const EndsProcess& reason) const {
    return "it ends the process on this device by the driver's quirk " + std::string(reason.quirk);
  }
  Message operator()(const NotAsData& reason) const {
    return "it takes its work as data, and " + reason.why;
  }
  Message operator()(const UnmetCondition& reason) const {
    return "it requires " + reason.condition.print();
  }
  Message operator()(const LaunchLimit& reason) const {
    using What = LaunchLimit::What;
    const std::string asked = std::to_string(reason.asked);
    const std::string limit = std::to_string(reason.limit);
    const std::string where = " in dimension " + std::to_string(reason.dimension);
    switch (reason.what) {
      case What::no_multiple:
        return "global size " + asked + " is no positive multiple of local " + limit + where;
      case What::local_size:
        return "local size " + asked + " exceeds the device's " + limit + where;
      case What::global_size:
        return "global size " + asked + " exceeds " + limit + where;
      case What::work_group:
        return "work-group of " + asked + " exceeds the device's " + limit;
      case What::local_memory:
        return asked + " bytes of local memory exceed the device's " + limit;
    }
    throw InternalError("rejection: a limit without a text");
  }
  Message operator()(const UnlistedWorkGroup& reason) const {
    const std::string asked = "a work-group of " + work_group_text(reason.local);
    if (reason.listed.empty()) {
      return asked + " gives " + reason.tunable + " two sizes; its dimensions must be equal";
    }
    return asked + " needs " + reason.tunable + " = " + std::to_string(reason.value) +
           "; it takes " + values_text(reason.listed);
  }
  Message operator()(const ScatteredResult& reason) const {
    return "its result would have to be scattered through " + reason.view;
  }
  Message operator()(const NoImages& reason) const {
    return "its operand " + reason.role + " lies in an image; the device has none";
  }
  Message operator()(const LargeImage& reason) const {
    return "its operand " + reason.role + " would be an image of " + texels_text(reason.image) +
           " texels; the device's are at most " + texels_text(reason.most);
  }
  Message operator()(const OtherLayout& reason) const {
    return "its operand " + reason.role + " lies as " + layout::print(*reason.lies) + ", not as " +
           reason.wanted;
  }
  Message operator()(const NoEntry& reason) const {
    Message text = "plan: no kernel for " + reason.problem + " (" + reason.step + ")";
    for (const Rejection& one : reason.rejections) {
      text += "; " + one.name + ": " + print(one.reason);
    }
    return text;
  }
  Message operator()(const NameClash& reason) const {
    return "its name '" + reason.name + "' is one of the problem around it";
  }
  Message operator()(const TooMuchWorkspace& reason) const {
    return "its temporaries of " + std::to_string(reason.bytes) +
           " bytes exceed the workspace limit of " + std::to_string(reason.limit);
  }
  Message operator()(const NoWayForStep& reason) const {
    const std::string text = "its step " + reason.family + " has no kernel";
    if (reason.first == nullptr) return text;
    return text + ": " + reason.first->name + ": " + print(reason.first->reason);
  }
  Message operator()(const OtherLastSlab& reason) const {
    return "no kernel of its step " + reason.family + " computes the last slab as well as the " +
           "others";
  }
  Message operator()(const WithValues& reason) const {
    return "with " + print_tunables(reason.tunables) + ", " + print(reason.rejection->reason);
  }
  Message operator()(const NoCandidate& reason) const {
    return "plan: no kernel computes " + reason.task + " (" + reason.problem + ") on this device" +
           lines_of(reason.rejections);
  }
  Message operator()(const OnlyBuilt&) const {
    return "other kernels are not considered: a plan at other extents uses the kernels that "
           "compile chose";
  }
};

/// Whether a self-test's refusal is the reason, or inside of it.
bool rests_on_self_test(const Reason& reason) {
  if (const auto* refused = std::get_if<RefusedValues>(&reason)) {
    return refused->finder == Verdict::Finder::self_test;
  }
  if (const auto* step = std::get_if<NoWayForStep>(&reason)) {
    return step->first != nullptr && rests_on_self_test(step->first->reason);
  }
  if (const auto* with = std::get_if<WithValues>(&reason)) {
    return rests_on_self_test(with->rejection->reason);
  }
  const auto* none = std::get_if<NoEntry>(&reason);
  return none != nullptr && std::ranges::any_of(none->rejections, [](const Rejection& one) {
           return rests_on_self_test(one.reason);
         });
}

}  // namespace

Message print(const Reason& reason) { return std::visit(ReasonText{}, reason); }

Message lines_of(const std::vector<Rejection>& rejections) {
  Message text;
  for (const Rejection& one : rejections) text += "\n  " + one.name + ": " + print(one.reason);
  return text;
}

std::vector<RejectedKernel> rejected_kernels(const std::vector<Rejection>& rejections) {
  std::vector<RejectedKernel> kernels;
  kernels.reserve(rejections.size());
  for (const Rejection& one : rejections) kernels.push_back({one.name, print(one.reason)});
  return kernels;
}

UnsupportedError error_of(const Reason& reason) {
  UnsupportedError error(print(reason));
  if (const auto* none = std::get_if<NoCandidate>(&reason)) {
    error.set_rejected(rejected_kernels(none->rejections));
  } else if (const auto* missing = std::get_if<NoEntry>(&reason)) {
    error.set_rejected(rejected_kernels(missing->rejections));
  }
  return error;
}

void add_left_out_by_self_tests(const std::vector<Rejection>& rejections,
                                std::vector<std::string>& lines) {
  for (const Rejection& rejection : rejections) {
    if (!rests_on_self_test(rejection.reason)) continue;
    std::string line = rejection.name + " is left out: " + print(rejection.reason).print();
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
}

}  // namespace morton::plan
