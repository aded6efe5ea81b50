// SPDX-License-Identifier: Apache-2.0
//
// Probes that are asked for by name: what they measure is right, and how fast it is matters not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "device/probe/probe_copy.hpp"
#include "device/probe/probe_group.hpp"
#include "device/probe/probe_image.hpp"
#include "device/probe/probe_intensity.hpp"
#include "device/probe/probe_latency.hpp"
#include "device/probe/probe_order.hpp"
#include "morton/tools/named_probes.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "tools/probing/order.hpp"

namespace morton::test {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Sampling kBrief{3, 0.3};

class NamedProbe : public test::DeviceTest {
 protected:
  [[nodiscard]] Device public_device() const { return Inside::make(shared_device()); }
};
MORTON_ON_EVERY_DEVICE(NamedProbe);

TEST_P(NamedProbe, EachWorkGroupTakesOneTicket) {
  ProbeOptions options;
  options.effort = ProbeOptions::Effort::quick;
  const WorkGroupOrder order = probe_order(public_device(), {17, 3}, options);
  EXPECT_THAT(order.repetitions, SizeIs(3));
  for (const auto& repetition : order.repetitions) {
    std::vector<std::int64_t> sorted = repetition.tickets;
    std::ranges::sort(sorted);
    std::vector<std::int64_t> all(51);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
    EXPECT_GE(repetition.pieces, 1);
    EXPECT_LE(repetition.pieces, 51);
  }
  EXPECT_THROW((void)probe_order(public_device(), {0, 3}), UsageError);
  EXPECT_THROW((void)probe_order(public_device(), {3, 257}), UsageError);
}

TEST(WorkGroupOrderFit, KnowsTheOrdersByTheirPieces) {
  constexpr std::array<std::int64_t, 2> kGroups{4, 3};
  std::vector<std::int64_t> tickets(12);
  std::iota(tickets.begin(), tickets.end(), 0);
  EXPECT_EQ(fit_of(tickets, kGroups, 0).pieces, 1);
  EXPECT_DOUBLE_EQ(fit_of(tickets, kGroups, 0).displacement, 0.0);
  EXPECT_EQ(fit_of(tickets, kGroups, 1).pieces, 4) << "each column begins with a smaller ticket";
  EXPECT_GT(fit_of(tickets, kGroups, 1).displacement, 0.1);
  // Dimension 1 fastest: (0, 0), (0, 1), (0, 2), (1, 0), ...
  const std::vector<std::int64_t> along_1{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
  EXPECT_EQ(fit_of(along_1, kGroups, 1).pieces, 1);
  EXPECT_DOUBLE_EQ(fit_of(along_1, kGroups, 1).displacement, 0.0);
  // Two halves at once.
  const std::vector<std::int64_t> halves{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11};
  EXPECT_EQ(fit_of(halves, kGroups, 0).pieces, 2);
}

/// Tickets of groups that begin along `dimension`, in so many stripes at once, each moved by up to
/// `jitter` places: group p of the order begins at about p.
std::vector<std::int64_t> tickets_along(int dimension, std::int64_t stripes, std::int64_t jitter,
                                        const std::array<std::int64_t, 2>& groups) {
  const std::int64_t count = groups[0] * groups[1];
  const std::int64_t length = (count + stripes - 1) / stripes;
  std::vector<std::array<std::int64_t, 2>> by_time;  // when it begins, and its place in memory
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> aside(-jitter, jitter);
  for (std::int64_t place = 0; place < count; ++place) {
    const std::int64_t fast = groups[static_cast<std::size_t>(dimension)];
    const std::int64_t at = dimension == 0 ? place : place / fast + place % fast * groups[0];
    by_time.push_back({place % length * stripes + place / length + aside(random), at});
  }
  std::ranges::stable_sort(by_time, {}, [](const auto& group) { return group[0]; });
  std::vector<std::int64_t> tickets(static_cast<std::size_t>(count));
  for (std::size_t t = 0; t < by_time.size(); ++t) {
    tickets[static_cast<std::size_t>(by_time[t][1])] = static_cast<std::int64_t>(t);
  }
  return tickets;
}

TEST(WorkGroupOrderKind, IsTheTrueOneThoughGroupsStepAside) {
  using Kind = WorkGroupOrder::Kind;
  for (const std::array<std::int64_t, 2> groups : {std::array<std::int64_t, 2>{33, 33}, {33, 7}}) {
    for (const std::int64_t jitter : {0, 1, 2, 5}) {
      SCOPED_TRACE(fmt::format("{}x{}, jitter {}", groups[0], groups[1], jitter));
      for (const int dimension : {0, 1}) {
        const auto seen = repetition_of(tickets_along(dimension, 1, jitter, groups), groups);
        EXPECT_EQ(seen.kind, dimension == 0 ? Kind::dimension_0 : Kind::dimension_1);
        EXPECT_LT(seen.displacement, 0.05);
      }
    }
  }
}

TEST(WorkGroupOrderKind, NamesStripesByTheirOwnDimension) {
  using Kind = WorkGroupOrder::Kind;
  constexpr std::array<std::int64_t, 2> kGroups{33, 33};
  for (const int dimension : {0, 1}) {
    const auto exact = repetition_of(tickets_along(dimension, 3, 0, kGroups), kGroups);
    EXPECT_EQ(exact.kind, dimension == 0 ? Kind::stripes_0 : Kind::stripes_1);
    EXPECT_EQ(exact.pieces, 3);
    // Too many pieces to be stripes, yet none of the other dimension.
    const auto moved = repetition_of(tickets_along(dimension, 3, 9, kGroups), kGroups);
    EXPECT_EQ(moved.kind, Kind::none);
    EXPECT_GT(moved.pieces, 100);
  }
}

TEST(LoadChains, GoThroughEveryPlaceOnce) {
  for (const auto& [footprint, stride] :
       {std::pair{64, 64}, std::pair{128, 64}, std::pair{1024, 16}, std::pair{4096, 1024}}) {
    SCOPED_TRACE(std::to_string(footprint) + " " + std::to_string(stride));
    const LoadChain chain(footprint, stride);
    const auto places = static_cast<std::size_t>(footprint / stride);
    ASSERT_THAT(chain.elements(), SizeIs(footprint / 4));
    std::vector<std::uint32_t> seen;
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < places; ++i) {
      EXPECT_EQ(at, chain.end_after(static_cast<std::int64_t>(i)));
      EXPECT_EQ(at % static_cast<std::uint32_t>(stride / 4), 0U);
      seen.push_back(at);
      at = chain.elements()[at];
    }
    EXPECT_EQ(at, 0U) << "it comes back after all of them";
    std::ranges::sort(seen);
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  }
}

TEST_P(NamedProbe, LoadsEndWhereTheChainSays) {
  LatencyProbe probe(shared_device());
  for (const std::int64_t footprint :
       {std::int64_t{64}, std::int64_t{1} << 10, std::int64_t{1} << 18}) {
    const LoadChain chain(footprint, 64);
    // A wrong end throws.
    EXPECT_THAT(probe.device_ns(chain, kBrief), Each(Gt(0.0))) << footprint;
    EXPECT_THAT(LatencyProbe::host_ns(chain, kBrief), Each(Gt(0.0))) << footprint;
  }
}

TEST_P(NamedProbe, EveryMultiplyAddRuns) {
  using Type = IntensityType;
  for (const Type type : {Type::f32, Type::f16, Type::i32, Type::i8}) {
    if (type == Type::f16 && !device().info().features.fp16) continue;
    IntensityProbe probe(shared_device(), type, 100'000);
    for (const std::int64_t count : {0, 3, 64}) {
      SCOPED_TRACE(std::string(name_of(type)) + " " + std::to_string(count));
      // Sums say how many ran; a wrong one throws.
      EXPECT_THAT(probe.measure(count, kBrief), Each(Gt(0.0)));
      EXPECT_GT(probe.bytes_loaded(), 0);
    }
    EXPECT_THROW((void)probe.measure(9, kBrief), InternalError);
    EXPECT_THROW((void)probe.measure(-1, kBrief), InternalError);
  }
}

TEST(IntensityFigures, CountTwoOperationsForAMultiplyAdd) {
  IntensityPoint point;
  point.element_bytes = 4;
  point.multiply_adds = 6;
  point.gigabytes_per_second.median = 10.0;
  EXPECT_DOUBLE_EQ(point.operations_per_byte(), 3.0);
  EXPECT_DOUBLE_EQ(point.gflops(), 30.0);
}

TEST_P(NamedProbe, TheDriverCopiesEveryByte) {
  for (const std::int64_t bytes : {1, 63, 64 * 1024 + 17}) {
    EXPECT_THAT(CopyProbe(shared_device(), bytes).copy_ms(kBrief), Each(Gt(0.0))) << bytes;
  }
}

TEST_P(NamedProbe, WorkGroupsOfEveryShapeComputeTheSame) {
  using Kernel = GroupProbe::Kernel;
  for (const Kernel kernel : {Kernel::stream, Kernel::product}) {
    GroupProbe probe(shared_device(), kernel, {32, 32});
    for (const GroupProbe::Extents& group :
         {GroupProbe::Extents{0, 0}, GroupProbe::Extents{1, 1}, GroupProbe::Extents{4, 16}}) {
      if (probe.why_not(group)) continue;
      EXPECT_THAT(probe.launch_times_ms(group, kBrief), Each(Gt(0.0)));
    }
    const std::int64_t most = device().info().compute.max_work_group_size;
    EXPECT_TRUE(probe.why_not({most, 2}));
    EXPECT_FALSE(probe.why_not({1, 1}));
  }
}

TEST_P(NamedProbe, ImagesAndBuffersHaveTheSameTexels) {
  using Type = ImageProbe::Type;
  using Order = ImageProbe::Order;
  for (const Type type : {Type::f32, Type::f16}) {
    for (const auto memory : {ImageProbe::Memory::image, ImageProbe::Memory::buffer}) {
      if (memory == ImageProbe::Memory::image && !ImageProbe::why_not(device(), type, 64).empty()) {
        continue;
      }
      ImageProbe probe(shared_device(), type, memory, 64);
      EXPECT_EQ(probe.bytes(), 64 * 64 * 4 * (type == Type::f32 ? 4 : 2));
      for (const Order order : {Order::rows, Order::columns, Order::tiles}) {
        EXPECT_THAT(probe.measure(order, kBrief), Each(Gt(0.0)));
      }
    }
  }
  EXPECT_THAT(ImageProbe::why_not(device(), Type::f32, std::int64_t{1} << 40),
              HasSubstr(device().info().image.supported ? "at most" : "no images"));
}

}  // namespace
}  // namespace morton::test
