// SPDX-License-Identifier: Apache-2.0
//
// What moving bytes costs: by caches, and with waits for weights in pieces.
#include <gtest/gtest.h>

#include "plan/cost/cost.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr double kSmall = 1 << 20;
constexpr double kBeyondCaches = 1 << 30;

TEST(MovingCost, WeightsOfASmallNetworkComeFromCaches) {
  const DeviceInfo cpu = saved_device("pocl_cpu");
  const double cached = moving_us({.weights = kSmall, .all_weights = kSmall}, cpu);
  const double from_memory = moving_us({.weights = kSmall, .all_weights = kBeyondCaches}, cpu);
  EXPECT_LT(1.5 * cached, from_memory);
  EXPECT_EQ(cached, moving_us({.tensors = kSmall}, cpu));
}

TEST(MovingCost, PiecesWaitForMemoryAndNotForCaches) {
  const DeviceInfo cpu = saved_device("pocl_cpu");
  const Moved far{.weights = kSmall, .all_weights = kBeyondCaches};
  Moved in_pieces = far;
  in_pieces.waits = kSmall;
  EXPECT_DOUBLE_EQ(moving_us(in_pieces, cpu), 2.0 * moving_us(far, cpu));
  in_pieces.all_weights = kSmall;
  EXPECT_EQ(moving_us(in_pieces, cpu), moving_us({.weights = kSmall, .all_weights = kSmall}, cpu));
}

/// 32 rows through a layer of 384 x 1536 and one of `others` weights more.
Plan encoder_like(std::int64_t others) {
  NetworkBuilder network("layers", 1);
  const TensorId x = network.input("x", {-1, 384});
  const TensorId wide = network.node("MatMul", {x, network.parameter({384, 1536}, 384)});
  network.output(network.node("MatMul", {wide, network.parameter({1536, others}, 1536)}));
  return plan_of(network.finish(), 32, saved_device("pocl_cpu"));
}

TEST(MovingCost, WeightsFromMemoryAreReadFromPanels) {
  EXPECT_EQ(encoder_like(16384).steps.front().kernel, "gemm.tile");
}

}  // namespace
}  // namespace morton::test
