// SPDX-License-Identifier: Apache-2.0
#include "source/reduction.hpp"

#include <string>

#include "base/error.hpp"

namespace morton::source {
namespace {

/// The structure's values (base/problem.hpp).
enum Combine : std::int64_t { kSum = 0, kProduct = 1, kSmallest = 2, kLargest = 3 };
enum Map : std::int64_t { kMagnitude = 1, kSquare = 2 };

/// What is no larger than any value of the type, and no smaller than any.
struct Ends {
  DType type;
  std::string_view least, most;
};

constexpr Ends kEnds[] = {
    {DType::f32, "(-INFINITY)", "INFINITY"}, {DType::f64, "(-INFINITY)", "INFINITY"},
    {DType::i8, "CHAR_MIN", "CHAR_MAX"},     {DType::u8, "0", "UCHAR_MAX"},
    {DType::i16, "SHRT_MIN", "SHRT_MAX"},    {DType::u16, "0", "USHRT_MAX"},
    {DType::i32, "INT_MIN", "INT_MAX"},      {DType::u32, "0", "UINT_MAX"},
    {DType::i64, "LONG_MIN", "LONG_MAX"},    {DType::u64, "0", "ULONG_MAX"},
};

const Ends& ends_of(DType type) {
  for (const Ends& ends : kEnds) {
    if (ends.type == type) return ends;
  }
  throw UnsupportedError("source: no reduction accumulates in " + std::string(name_of(type)));
}

std::string start_of(std::int64_t combine, DType type) {
  const Ends& ends = ends_of(type);
  if (combine == kProduct) return "1";
  if (combine == kSmallest) return std::string(ends.most);
  return combine == kLargest ? std::string(ends.least) : "0";
}

std::string combined_by(std::int64_t combine) {
  if (combine == kProduct) return "((a) * (b))";
  if (combine == kSmallest) return "((((b) < (a)) | ((b) != (b))) ? (b) : (a))";
  return combine == kLargest ? "((((b) > (a)) | ((b) != (b))) ? (b) : (a))" : "((a) + (b))";
}

std::string mapped_by(std::int64_t map) {
  if (map == kSquare) return "((v) * (v))";
  return map == kMagnitude ? "((v) < 0 ? -(v) : (v))" : "(v)";
}

}  // namespace

std::vector<MacroText> reduction_macros(const Problem& problem) {
  if (problem.family != "reduce") return {};
  const std::int64_t combine = problem.structure.at("COMBINE");
  const bool mean = problem.structure.at("MEAN") != 0;
  return {{"START", "", start_of(combine, problem.types.at("acc"))},
          {"MAPPED", "(v)", mapped_by(problem.structure.at("MAP"))},
          {"COMBINED", "(a, b)", combined_by(combine)},
          {"FINISHED", "(v)", mean ? "((v) / (TYPE_acc)COUNT)" : "(v)"}};
}

}  // namespace morton::source
