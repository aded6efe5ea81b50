// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs mapped into the host's memory, and what must not happen meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/inside.hpp"
#include "device/session_network.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class SessionMap : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    session_ = std::make_unique<Session>(
        compile(session_model(), Inside::make(shared_device()), session_options()));
    output_ = session_->model().outputs()[0].name;
  }
  std::unique_ptr<Session> session_;
  std::string output_;
};
MORTON_ON_EVERY_DEVICE(SessionMap);

void copy_into(const Tensor& from, Tensor to) {
  const auto values = from.as<float>();
  std::copy(values.begin(), values.end(), to.as_mutable<float>().begin());
}

TEST_P(SessionMap, WrittenAndReadInPlaceSeveralTimes) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto inputs = session_inputs(seed);
    copy_into(inputs[0].tensor, session_->map_input("a"));
    copy_into(inputs[1].tensor, session_->map_input("b"));
    session_->unmap();
    session_->enqueue();
    std::vector<NamedTensor> outputs;
    for (const auto& port : session_->model().outputs()) {
      const Tensor seen = session_->map_output(port.name);
      EXPECT_EQ(seen.shape(), port.shape);
      outputs.push_back({port.name, seen.clone()});
    }
    session_->unmap();
    expect_right(inputs, outputs);
  }
}

TEST_P(SessionMap, AnOutputsMappingIsReadOnly) {
  static_cast<void>(session_->run(session_inputs(4)));
  Tensor seen = session_->map_output(output_);
  EXPECT_NE(usage_complaint([&] { static_cast<void>(seen.mutable_data()); }), "nothing");
  session_->unmap();
}

TEST_P(SessionMap, NothingRunsOrMovesWhileMapped) {
  const auto inputs = session_inputs(5);
  Tensor mapped = session_->map_input("a");
  EXPECT_THAT(usage_complaint([&] { session_->enqueue(); }), HasSubstr("unmap"));
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(session_->run(inputs)); }),
              HasSubstr("unmap"));
  EXPECT_THAT(usage_complaint([&] { session_->move_to(Inside::make(shared_device())); }),
              HasSubstr("unmap"));
  EXPECT_THAT(usage_complaint([&] { session_->set_input("a", inputs[0].tensor); }),
              HasSubstr("'a' is mapped"));
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(session_->map_input("a")); }),
              HasSubstr("'a' is mapped"));
  // Another port is free.
  session_->set_input("b", inputs[1].tensor);
  copy_into(inputs[0].tensor, mapped);
  session_->unmap();
  session_->enqueue();
  expect_right(inputs, outputs_of(*session_));
}

TEST_P(SessionMap, UnknownPortsAndNeedlessUnmapping) {
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(session_->map_input(output_)); }),
              HasSubstr("no input"));
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(session_->map_output("a")); }),
              HasSubstr("no output"));
  EXPECT_NO_THROW(session_->unmap());
  const auto inputs = session_inputs(6);
  expect_right(inputs, session_->run(inputs));
}

TEST_P(SessionMap, ASessionMayEndWhileMapped) {
  copy_into(session_inputs(7)[0].tensor, session_->map_input("a"));
  static_cast<void>(session_->map_output(output_));
  EXPECT_NO_THROW(session_.reset());
}

}  // namespace
}  // namespace morton::test
