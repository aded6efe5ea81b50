// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/ir/whole_plan.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

/// A plan with one constant, of 16 bytes elsewhere, that is to be f32 of this shape.
plan::WholePlan with_constant(const Shape& shape) {
  plan::WholePlan whole;
  plan::Value value;
  value.name = "w";
  value.kind = plan::Value::Kind::constant;
  value.arrangement.tensor_shape = shape;
  whole.plan.values.add(std::move(value));
  whole.pieces.push_back({0, 16, ""});
  plan::ArchivedConstant constant;
  constant.value = ValueId(0);
  constant.shape = shape;
  whole.constants.push_back(constant);
  return whole;
}

Tensor zeros(const plan::ArchivedPiece&, DType type, const Shape& shape) {
  return Tensor::allocate(type, shape);
}

TEST(WholePlan, APieceHasTheBytesOfItsConstant) {
  const Plan plan = put_together(with_constant({2, 2}), Graph(), zeros, "kept");
  EXPECT_EQ(plan.values[ValueId(0)].data.bytes(), 16U);
  for (const Shape& shape : {Shape{5}, Shape{0}, Shape{std::int64_t{1} << 39}, Shape{-4, -1}}) {
    const auto error = thrown<ModelError>(
        [&] { (void)put_together(with_constant(shape), Graph(), zeros, "kept"); });
    EXPECT_NE(std::string(error.what()), "");
  }
  const auto error =
      thrown<ModelError>([] { (void)put_together(with_constant({5}), Graph(), zeros, "kept"); });
  EXPECT_THAT(error.what(), HasSubstr("kept: is damaged: the bytes of 'w' do not fit its shape"));
}

}  // namespace
}  // namespace morton::test
