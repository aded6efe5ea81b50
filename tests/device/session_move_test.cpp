// SPDX-License-Identifier: Apache-2.0
//
// A session that goes on on another device in mid-run: programs and data are made there without the
// caller's help. PoCL gives two devices to a process that asks for them when it starts, so the
// tests run in a child process.
#include <gtest/gtest.h>

#include <optional>

#include "device/session_network.hpp"
#include "morton/interop.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using test::ChildResult;
using test::TemporaryFolder;

/// Runs only in a process with two devices.
class DISABLED_SessionMoveChild : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(OpenClDevice::list().size(), 2U);
    const DeviceConfig memory_only{"", DeviceConfig::DiskCache::none};
    first_.emplace(Device::open("0:0", memory_only));
    second_.emplace(Device::open("0:1", memory_only));
    ASSERT_NE(device_of(*first_), device_of(*second_));
    session_.emplace(compile(session_model(), *first_, session_options()));
  }
  std::optional<Device> first_, second_;
  std::optional<Session> session_;
};

TEST_F(DISABLED_SessionMoveChild, ProgramsAndDataAreMadeThere) {
  const auto inputs = session_inputs(1);
  expect_right(inputs, session_->run(inputs));
  EXPECT_GT(first_->program_builds(), 0);
  EXPECT_EQ(second_->program_builds(), 0);
  EXPECT_EQ(second_->used_bytes(), 0);

  session_->move_to(*second_);
  EXPECT_GT(second_->program_builds(), 0);
  EXPECT_GT(second_->used_bytes(), 0);
  EXPECT_EQ(first_->used_bytes(), 0) << "what the first device held must go";
  EXPECT_EQ(session_->model().device().id(), "0:1");
  const auto others = session_inputs(2);
  expect_right(others, session_->run(others));
}

TEST_F(DISABLED_SessionMoveChild, InputsThatWereSetMoveAlong) {
  const auto inputs = session_inputs(3);
  for (const auto& input : inputs) session_->set_input(input.name, input.tensor);
  session_->move_to(*second_);
  session_->enqueue();
  expect_right(inputs, outputs_of(*session_));
}

TEST_F(DISABLED_SessionMoveChild, WorkUnderWayEndsFirst) {
  const auto inputs = session_inputs(4);
  for (const auto& input : inputs) session_->set_input(input.name, input.tensor);
  std::vector<Event> events;
  for (int i = 0; i < 10; ++i) events.push_back(session_->enqueue());
  session_->move_to(*second_);
  for (const Event& event : events) EXPECT_NO_THROW(event.wait());
  session_->enqueue();
  expect_right(inputs, outputs_of(*session_));
}

TEST_F(DISABLED_SessionMoveChild, ThereAndBackBuildsNothingTwice) {
  const auto inputs = session_inputs(5);
  session_->move_to(*second_);
  session_->move_to(*first_);
  const int on_first = first_->program_builds();
  const int on_second = second_->program_builds();
  for (int i = 0; i < 3; ++i) {
    session_->move_to(*second_);
    expect_right(inputs, session_->run(inputs));
    session_->move_to(*first_);
    expect_right(inputs, session_->run(inputs));
  }
  EXPECT_EQ(first_->program_builds(), on_first);
  EXPECT_EQ(second_->program_builds(), on_second);
}

TEST_F(DISABLED_SessionMoveChild, ProfilingGoesOn) {
  SessionOptions options;
  options.profiling = SessionOptions::Profiling::on;
  Session session(compile(session_model(), *first_, session_options()), options);
  static_cast<void>(session.run(session_inputs(6)));
  session.move_to(*second_);
  EXPECT_TRUE(session.step_times().empty()) << "nothing has run there";
  static_cast<void>(session.run(session_inputs(6)));
  EXPECT_EQ(session.step_times().size(), session.model().steps().size());
}

TEST_F(DISABLED_SessionMoveChild, AModelStaysWhereItIsForItsOtherSessions) {
  const CompiledModel model = session_->model();
  Session stays(model);
  session_->move_to(*second_);
  const auto inputs = session_inputs(7);
  const auto others = session_inputs(8);
  expect_right(inputs, stays.run(inputs));
  expect_right(others, session_->run(others));
  EXPECT_EQ(stays.model().device().id(), "0:0");
}

TEST(SessionMove, BetweenTwoDevicesOfPocl) {
  const auto devices = OpenClDevice::list();
  const bool pocl =
      devices.size() == 1 && devices[0].driver.platform == "Portable Computing Language";
  if (!pocl)
    GTEST_SKIP() << "needs PoCL as the only platform, which gives as many devices as asked";
  const TemporaryFolder folder;
  const ChildResult child = test::run_tests_in_child(
      "DISABLED_SessionMoveChild.*",
      {{"POCL_DEVICES", "pthread pthread"}, {"POCL_CACHE_DIR", folder.path().string()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  EXPECT_NE(child.output.find("6 tests from 1 test suite ran"), std::string::npos) << child.output;
}

}  // namespace
}  // namespace morton::test
