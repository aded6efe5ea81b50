// SPDX-License-Identifier: Apache-2.0
//
// How the server makes batches of requests: sizes that pay, what waits, what is late or refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/batch_times.hpp"
#include "models/batching.hpp"
#include "models/request_queue.hpp"

namespace morton::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ServeBatchTimes, TakeAllItemsWhileATimeIsUnknown) {
  BatchTimes times(8);
  EXPECT_TRUE(std::isinf(times.of(4)));
  EXPECT_EQ(times.items_for(5), 5);
  times.add(4, 1.0);
  EXPECT_EQ(times.items_for(5), 5);
}

TEST(ServeBatchTimes, LeaveSomeWhereZerosCostMore) {
  BatchTimes times(8);
  times.add(4, 4.0);
  times.add(8, 8.0);
  // 8 for 5 items, or 4 for 4 of them.
  EXPECT_EQ(times.items_for(5), 4);
  EXPECT_EQ(times.items_for(7), 4);
  EXPECT_EQ(times.items_for(4), 4);
  EXPECT_EQ(times.items_for(8), 8);
  EXPECT_EQ(times.items_for(30), 8);
}

TEST(ServeBatchTimes, FillUpWhereALargeBatchIsCheap) {
  BatchTimes times(8);
  times.add(4, 4.0);
  times.add(8, 4.5);
  EXPECT_EQ(times.items_for(5), 5);
}

TEST(ServeBatchTimes, ForgetSlowly) {
  BatchTimes times(1);
  times.add(1, 1.0);
  times.add(1, 9.0);
  EXPECT_DOUBLE_EQ(times.of(1), 2.0);
}

TEST(ServeBatching, SizesArePowersOfTwoOrTheLargest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t items = 1; items <= 6; ++items) sizes.push_back(batch_size_for(items, 6));
  EXPECT_THAT(sizes, ElementsAre(1, 2, 4, 4, 6, 6));
}

TEST(ServeBatching, JoinsItemsAndTakesThemApart) {
  // Items lie in dimension 1 of two rows.
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::vector<Pending> requests(2);
  requests[0].inputs = {Tensor::from({2, 1}, std::span(values).first(2))};
  requests[1].inputs = {Tensor::from({2, 2}, std::span(values).last(4))};
  requests[1].items = 2;
  const std::vector<std::size_t> dimensions{1};
  const std::vector<Tensor> joined = joined_inputs(requests, dimensions, 4);
  EXPECT_THAT(joined[0].as<float>(), ElementsAre(1, 3, 4, 0, 2, 5, 6, 0));
  EXPECT_THAT(items_of(joined[0], 1, 1, 2).as<float>(), ElementsAre(3, 4, 5, 6));
}

/// What comes of requests of one item each, in the order in which they are done.
class ServeQueue : public ::testing::Test {
 protected:
  Pending request(std::optional<Clock::time_point> deadline = {}, std::int64_t extent = 1) {
    Pending one;
    one.shapes = {{1, extent}};
    one.arrived = Clock::now();
    one.deadline = deadline;
    one.done = [this](const Outcome& outcome) { refused.push_back(std::get<Refusal>(outcome)); };
    return one;
  }

  static std::int64_t all(std::int64_t waiting) { return waiting; }

  std::vector<Refusal> refused;
};

TEST_F(ServeQueue, RequestsOfOneShapeShareABatchInTheirOrder) {
  RequestQueue queue({8, 3, {}});
  EXPECT_TRUE(queue.is_idle());
  for (const std::int64_t extent : {1, 2, 1, 1, 1}) queue.offer(request({}, extent));
  EXPECT_FALSE(queue.is_idle());
  EXPECT_THAT(queue.take(all), SizeIs(3));
  EXPECT_THAT(queue.take(all), SizeIs(1));
  EXPECT_EQ(queue.waiting(), 1U);
}

TEST_F(ServeQueue, RefusesMoreThanMayWait) {
  RequestQueue queue({1, 1, {}});
  queue.offer(request());
  queue.offer(request());
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].why, Refusal::Why::busy);
  EXPECT_THAT(refused[0].text, HasSubstr("1 requests wait"));
}

TEST_F(ServeQueue, LateRequestsAreDoneAndNotTaken) {
  RequestQueue queue({8, 8, {}});
  queue.offer(request(Clock::now() - std::chrono::seconds(1)));
  queue.offer(request());
  EXPECT_THAT(queue.take(all), SizeIs(1));
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].why, Refusal::Why::late);
}

TEST_F(ServeQueue, AClosedQueueRefusesAndMayDropWhatWaits) {
  RequestQueue queue({8, 8, {}});
  queue.offer(request());
  queue.close(RequestQueue::Rest::dropped);
  queue.offer(request());
  ASSERT_THAT(refused, SizeIs(2));
  EXPECT_EQ(refused[0].why, Refusal::Why::busy);
  EXPECT_EQ(refused[1].why, Refusal::Why::gone);
  EXPECT_FALSE(queue.is_idle());
  EXPECT_TRUE(queue.take(all).empty());
}

TEST_F(ServeQueue, ADelayIsNotIdle) {
  RequestQueue queue({8, 8, std::chrono::microseconds(1)});
  EXPECT_FALSE(queue.is_idle());
}

}  // namespace
}  // namespace morton::serve
