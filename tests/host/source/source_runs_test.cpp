// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "source/runs.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// How long the innermost loop of dst is for runs of a copy within this shape.
std::string loop_of(const Shape& shape) {
  const auto operand = [&](const std::string& name) {
    return InstanceOperand{.name = name,
                           .arrangement = row_major_arrangement(DType::f32, shape),
                           .view = View::identity({"D0", "D1", "D2"})};
  };
  for (const MacroText& macro : run_texts(operand("dst"), operand("src")).macros) {
    if (macro.name == "LOOP_dst") return macro.body;
  }
  return "none";
}

TEST(Runs, GoAlongTheInnermostDimensionOfSeveralElements) {
  const std::string innermost = loop_of({3, 5, 7});
  const std::string middle = loop_of({3, 5, 1});
  EXPECT_NE(innermost, middle);
  EXPECT_EQ(loop_of({1, 5, 1}), middle);
  EXPECT_NE(loop_of({3, 1, 1}), middle);
  EXPECT_EQ(loop_of({1, 1, 1}), innermost);
}

}  // namespace
}  // namespace morton::test
