// SPDX-License-Identifier: Apache-2.0
//
// A plan as bytes and back; damaged bytes give a ModelError or a plan that `check_archived` judges,
// never anything else.
#include "plan/ir/plan_archive.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/error.hpp"
#include "plan/ir/print.hpp"
#include "plan/ir/print_json.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

std::string bytes_of(const Plan& plan) {
  ArchiveWriter writer;
  writer(plan);
  return writer.take();
}

Plan plan_from(const std::string& bytes) {
  ArchiveReader reader(bytes, "plan");
  Plan plan;
  reader(plan);
  reader.require_end();
  return plan;
}

class PlanArchive : public ::testing::Test {
 protected:
  const DeviceInfo device_ = saved_device("pocl_cpu");
  const Plan plan_ = with_packed_constants(plan_of(make_residual_network(3), 3, device_));
  const std::string bytes_ = bytes_of(plan_);

  /// What reading and checking damaged bytes comes to.
  void feed(const std::string& bytes) {
    try {
      check_archived(plan_from(bytes), device_, "plan");
      ++accepted_;
    } catch (const ModelError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
      ++refused_;
    }
  }
  int accepted_ = 0, refused_ = 0;
};

TEST_F(PlanArchive, ComesBackAsItWas) {
  const Plan read = plan_from(bytes_);
  EXPECT_EQ(print(read, PlanDetail::why), print(plan_, PlanDetail::why));
  EXPECT_EQ(to_json(read), to_json(plan_));
  EXPECT_EQ(bytes_of(read), bytes_);
  EXPECT_NO_THROW(check_archived(read, device_, "plan"));
}

TEST_F(PlanArchive, EveryPrefixIsRefused) {
  const std::size_t step = std::max<std::size_t>(bytes_.size() / 400, 1);
  for (std::size_t count = 0; count < bytes_.size(); count += step) feed(bytes_.substr(0, count));
  EXPECT_EQ(accepted_, 0);
  EXPECT_GT(refused_, 300);
  feed(bytes_ + 'x');
  EXPECT_EQ(accepted_, 0);
}

TEST_F(PlanArchive, DamagedBytesAreRefusedOrHarmless) {
  std::mt19937 random(20261122);
  // Most bytes are kernels' text, in which any letter may be.
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = bytes_;
    damaged[random() % damaged.size()] = static_cast<char>(random() & 0xff);
    feed(damaged);
  }
  EXPECT_GT(refused_, 100);
}

TEST_F(PlanArchive, WhatDoesNotFitIsRefused) {
  const auto spoiled = [&](auto spoil) {
    Plan plan = plan_;
    spoil(plan);
    feed(bytes_of(plan));
  };
  spoiled([](Plan& plan) { plan.values.front().bytes = -1; });
  spoiled([](Plan& plan) { plan.values.front().bytes = std::int64_t{1} << 62; });
  spoiled([](Plan& plan) { plan.values.front().block = BlockId(1000); });
  spoiled([](Plan& plan) { plan.blocks.front().bytes = -1; });
  spoiled([](Plan& plan) { launch_in(plan.steps[0]).instance = InstanceId(1000); });
  spoiled([](Plan& plan) { launch_in(plan.steps[0]).local = {1 << 20, 1, 1}; });
  spoiled([](Plan& plan) { plan.steps[0].action = Transfer(); });
  spoiled([](Plan& plan) { plan.steps[0].arguments[0].passed = std::int64_t{1} << 40; });
  spoiled([](Plan& plan) { plan.programs[0].push_back(plan.programs[0][0]); });
  spoiled([](Plan& plan) { plan.programs.clear(); });
  spoiled([](Plan& plan) { plan.outputs[0].value = ValueId(); });
  EXPECT_EQ(accepted_, 0);
}

TEST_F(PlanArchive, PartsOfMemoryAreNotSharedWhereTheDriverCannot) {
  DeviceInfo device = device_;
  device.quirks.emplace_back(kOverlappingSubBuffers);
  EXPECT_THROW(check_archived(plan_, device, "plan"), UnsupportedError);
  const Plan own = with_packed_constants(plan_of(make_residual_network(3), 3, device));
  EXPECT_NO_THROW(check_archived(own, device, "plan"));
}

TEST(ArchiveSchema, TellsTypesApart) {
  ArchiveSchema a, b, c;
  a(std::int64_t{}, std::string());
  b(std::int32_t{}, std::string());
  c(std::int64_t{}, std::vector<std::string>());
  EXPECT_NE(a.text(), b.text());
  EXPECT_NE(a.text(), c.text());
}

}  // namespace
}  // namespace morton::test
