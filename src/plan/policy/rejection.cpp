// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/rejection.hpp"

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
  std::string operator()(const NotConsidered& reason) const {
    using Why = NotConsidered::Why;
    switch (reason.why) {
      case Why::excluded:
        return "it is excluded";
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
        return "no measured host rate; run morton probe";
      case Why::other_steps:
        return "these extents lead to other steps";
    }
    throw InternalError("rejection: a reason without a text");
  }
  std::string operator()(const NotNamed& reason) const {
    return "it is considered only where --use " + reason.family + "=" + reason.name +
           " asks for it";
  }
  std::string operator()(const MissingLibrary& reason) const {
    const Library* library = find_library(reason.library);
    return "this build has no " + std::string(library->title) + "; install " +
           std::string(library->package) + " and rebuild";
  }
  std::string operator()(const OtherPrecision& reason) const {
    const std::string type(name_of(reason.stored));
    return "it keeps " + reason.role + " as " + type + ", which needs the precision " + type;
  }
  std::string operator()(const WrongType& reason) const {
    return "its operand " + reason.role + " cannot be " + std::string(name_of(reason.type));
  }
  std::string operator()(const RefusedValues& reason) const {
    return (reason.tunables.empty() ? "it" : print_tunables(reason.tunables)) +
           " is refused on this device: " + reason.verdict;
  }
  std::string operator()(const UnmetCondition& reason) const {
    return "it requires " + reason.condition.print();
  }
  std::string operator()(const LaunchLimit& reason) const {
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
  std::string operator()(const UnlistedWorkGroup& reason) const {
    const std::string asked = "a work-group of " + work_group_text(reason.local);
    if (reason.listed.empty()) {
      return asked + " gives " + reason.tunable + " two sizes; its dimensions must be equal";
    }
    return asked + " needs " + reason.tunable + " = " + std::to_string(reason.value) +
           "; it takes " + values_text(reason.listed);
  }
  std::string operator()(const ScatteredResult& reason) const {
    return "its result would have to be scattered through " + reason.view;
  }
  std::string operator()(const NoImages& reason) const {
    return "its operand " + reason.role + " lies in an image; the device has none";
  }
  std::string operator()(const LargeImage& reason) const {
    return "its operand " + reason.role + " would be an image of " + texels_text(reason.image) +
           " texels; the device's are at most " + texels_text(reason.most);
  }
  std::string operator()(const OtherLayout& reason) const {
    return "its operand " + reason.role + " lies as " + layout::print(*reason.lies) + ", not as " +
           reason.wanted;
  }
  std::string operator()(const NoEntry& reason) const {
    std::string text = "plan: no kernel for " + reason.problem + " (" + reason.step + ")";
    for (const Rejection& one : reason.rejections) {
      text += "; " + one.name + ": " + print(one.reason);
    }
    return text;
  }
  std::string operator()(const NameClash& reason) const {
    return "its name '" + reason.name + "' is one of the problem around it";
  }
  std::string operator()(const TooMuchWorkspace& reason) const {
    return "its temporaries of " + std::to_string(reason.bytes) +
           " bytes exceed the workspace limit of " + std::to_string(reason.limit);
  }
  std::string operator()(const NoWayForStep& reason) const {
    const std::string text = "its step " + reason.family + " has no kernel";
    if (reason.first == nullptr) return text;
    return text + ": " + reason.first->name + " " + print(reason.first->reason);
  }
  std::string operator()(const OtherLastSlab& reason) const {
    return "no kernel of its step " + reason.family + " computes the last slab as well as the " +
           "others";
  }
  std::string operator()(const WithValues& reason) const {
    return "with " + print_tunables(reason.tunables) + ", " + print(reason.rejection->reason);
  }
  std::string operator()(const NoCandidate& reason) const {
    return "plan: no kernel computes " + reason.task + " (" + reason.problem + ") on this device" +
           lines_of(reason.rejections);
  }
  std::string operator()(const OnlyBuilt&) const {
    return "other kernels are not considered: a plan at other extents uses the kernels that "
           "compile chose";
  }
};

}  // namespace

std::string print(const Reason& reason) { return std::visit(ReasonText{}, reason); }

std::string lines_of(const std::vector<Rejection>& rejections) {
  std::string text;
  for (const Rejection& one : rejections) text += "\n  " + one.name + ": " + print(one.reason);
  return text;
}

}  // namespace morton::plan
