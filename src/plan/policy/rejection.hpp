// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/rooms.hpp"
#include "layout/arrangement.hpp"
#include "morton/dtype.hpp"
#include "morton/error.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::plan {

struct Rejection;

/// It is not taken, whatever the problem is.
struct NotConsidered {
  enum class Why : std::uint8_t {
    excluded,            ///< PlanOptions::exclude names it
    left_out,            ///< it computed wrongly when it was tried
    packs_one_layout,    ///< a step's reader asks for it by the layout
    writes_the_whole,    ///< the problem is a part of dst
    writes_a_part,       ///< the problem is the whole of dst
    computes_with_f64,   ///< the device lacks doubles
    host_is_waited_for,  ///< of several devices all but one would wait
    host_not_measured,
    other_steps,  ///< what was decided at other extents is no way at these
  } why;
};
/// Only PlanOptions::use, or a recipe's step, may ask for it.
struct NotNamed {
  std::string family, name;
};
struct MissingLibrary {
  std::string library;
};
/// An operand is kept in memory as a type of another precision than the one that is asked for.
struct OtherPrecision {
  std::string role;
  DType stored;
};
/// It adds up products in f16, which is not asked for.
struct OtherSums {};
struct WrongType {
  std::string role;
  DType type;
};
/// It adds numbers before they are multiplied, which takes more bits than lie in memory.
struct FewBits {
  DType type;
  int needed = 0;
};
/// The device computes wrongly with these values of the tunables.
struct RefusedValues {
  Environment tunables;
  std::string verdict;
  Verdict::Finder finder = Verdict::Finder::tuning;
};
/// The driver has a bug that ends the process over this kernel.
struct EndsProcess {
  std::string_view quirk;
};
/// Of an entry that takes its work as data: what of the work cannot be.
struct NotAsData {
  std::string why;
};
struct UnmetCondition {
  Expression condition;
};
/// What a launch asks for is beyond a limit of the device, or no multiple of the work-group.
struct LaunchLimit {
  enum class What : std::uint8_t {
    no_multiple,
    local_size,
    global_size,
    work_group,
    local_memory
  } what;
  std::size_t dimension = 0;  ///< of the first three
  std::int64_t asked = 0, limit = 0;
};
/// The work-group that is set is none of the entry's.
struct UnlistedWorkGroup {
  std::vector<std::int64_t> local;
  std::string tunable;
  std::int64_t value = 0;
  std::vector<std::int64_t> listed;  ///< empty: one tunable would get two values
};
struct ScatteredResult {
  std::string view;
};
struct NoImages {
  std::string role;
};
struct LargeImage {
  std::string role;
  ImageExtents image, most;
};
/// Of an entry that packs one layout: the operand does not lie so.
struct OtherLayout {
  std::string role;
  std::shared_ptr<const Arrangement> lies;
  std::string wanted;
};
/// No entry computes a step that follows, or goes before, the kernel.
struct NoEntry {
  std::string problem, step;
  std::vector<Rejection> rejections;
};
/// A name of the recipe is one of the problem around it.
struct NameClash {
  std::string name;
};
struct TooMuchWorkspace {
  std::int64_t bytes = 0, limit = 0;
};
/// Of a recipe: no way to take the step.
struct NoWayForStep {
  std::string family;
  std::shared_ptr<const Rejection> first;  ///< null: there is nothing that could
};
struct OtherLastSlab {
  std::string family;
};
/// Of a recipe with tunables: why not, with the first values.
struct WithValues {
  Environment tunables;
  std::shared_ptr<const Rejection> rejection;  ///< of the recipe
};
/// Nothing computes the task.
struct NoCandidate {
  std::string task, problem;
  std::vector<Rejection> rejections;
};
/// Kernels that are built are taken, so no others are.
struct OnlyBuilt {};

/// Why an entry or a recipe cannot compute a task: its kind and what its text is made from.
using Reason = std::variant<NotConsidered, NotNamed, MissingLibrary, OtherPrecision, OtherSums,
                            WrongType, FewBits, RefusedValues, EndsProcess, NotAsData,
                            UnmetCondition, LaunchLimit, UnlistedWorkGroup, ScatteredResult,
                            NoImages, LargeImage, OtherLayout, NoEntry, NameClash, TooMuchWorkspace,
                            NoWayForStep, OtherLastSlab, WithValues, NoCandidate, OnlyBuilt>;

/// What was asked for, or why there is none.
template <class T>
using OrReason = std::variant<T, Reason>;

/// An entry or recipe that cannot compute a task, and why.
struct Rejection {
  std::string name;
  Reason reason;
};

/// "it requires K % 4 == 0".
[[nodiscard]] Message print(const Reason& reason);

/// "\n  gemm.morton_4_2: it requires K % 4 == 0" for each.
[[nodiscard]] Message lines_of(const std::vector<Rejection>& rejections);

/// The same as a field of errors.
[[nodiscard]] std::vector<RejectedKernel> rejected_kernels(
    const std::vector<Rejection>& rejections);

/// The reason as an error, with the kernels that were rejected for it.
[[nodiscard]] UnsupportedError error_of(const Reason& reason);

/// What was asked for. Throws `error_of` the reason where there is none.
template <class T>
[[nodiscard]] T required(OrReason<T> found) {
  if (const auto* reason = std::get_if<Reason>(&found)) throw error_of(*reason);
  return std::get<T>(std::move(found));
}

/// Adds "gemm.tile is left out: ..." for each that is rejected because a self-test, of this process
/// or an earlier one, found a kernel wrong. What is there already is not added again.
void add_left_out_by_self_tests(const std::vector<Rejection>& rejections,
                                std::vector<std::string>& lines);

}  // namespace morton::plan
