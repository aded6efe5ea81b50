// SPDX-License-Identifier: Apache-2.0
#include "source/reduction.hpp"

#include <string>

#include "base/error.hpp"
#include "problems/reduce.hpp"

namespace morton::source {
namespace {

using Combine = ReduceStructure::Combine;
using Map = ReduceStructure::Map;

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

std::string start_of(Combine combine, DType type) {
  const Ends& ends = ends_of(type);
  if (combine == Combine::product) return "1";
  if (combine == Combine::smallest) return std::string(ends.most);
  return combine == Combine::largest ? std::string(ends.least) : "0";
}

std::string combined_by(Combine combine) {
  if (combine == Combine::product) return "((a) * (b))";
  if (combine == Combine::smallest) return "((((b) < (a)) | ((b) != (b))) ? (b) : (a))";
  return combine == Combine::largest ? "((((b) > (a)) | ((b) != (b))) ? (b) : (a))" : "((a) + (b))";
}

std::string mapped_by(Map map) {
  if (map == Map::square) return "((v) * (v))";
  return map == Map::magnitude ? "((v) < 0 ? -(v) : (v))" : "(v)";
}

}  // namespace

std::vector<MacroText> reduction_macros(const Problem& problem) {
  if (problem.family != families::reduce) return {};
  const auto reduce = structure_of<ReduceStructure>(problem.structure);
  const bool mean = reduce.finish == ReduceStructure::Finish::mean;
  return {{"START", "", start_of(reduce.combine, problem.types.at("acc"))},
          {"MAPPED", "(v)", mapped_by(reduce.map)},
          {"COMBINED", "(a, b)", combined_by(reduce.combine)},
          {"FINISHED", "(v)", mean ? "((v) / (TYPE_acc)COUNT)" : "(v)"}};
}

}  // namespace morton::source
