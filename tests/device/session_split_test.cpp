// SPDX-License-Identifier: Apache-2.0
//
// One model over two devices: each computes some rows of the batch. PoCL gives two devices to a
// process that asks for them when it starts, so the tests run in a child process. On any one device
// the same runs over two contexts of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "device/session_network.hpp"
#include "morton/architectures.hpp"
#include "morton/interop.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using test::ChildResult;
using test::TemporaryFolder;

std::vector<NamedTensor> inputs_of(std::int64_t batch, std::uint64_t seed) {
  return {{"a", random_tensor({batch, 17}, seed)}, {"b", random_tensor({batch, 17}, seed + 1000)}};
}

void expect_right_for(std::int64_t batch, const std::vector<NamedTensor>& inputs,
                      const std::vector<NamedTensor>& got) {
  const auto expected = reference_outputs(with_shapes(session_graph(), batch), inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].tensor.shape().front(), batch);
    const Comparison comparison = compare(expected[i], got[i].tensor.as<float>());
    EXPECT_TRUE(comparison.ok()) << got[i].name << ": " << comparison.text;
  }
}

CompileOptions options_of(std::int64_t batch, const std::vector<double>& weights) {
  CompileOptions options;
  options.batch = batch;
  options.weights = weights;
  return options;
}

std::vector<std::int64_t> rows_in(const CompiledModel& model) {
  std::vector<std::int64_t> rows;
  for (const DeviceShare& share : model.report().shares) rows.push_back(share.rows);
  return rows;
}

/// Two contexts of each device found.
class SessionSplit : public test::DeviceTest {
 protected:
  void SetUp() override {
    const DeviceConfig memory_only{"", DeviceConfig::DiskCache::none};
    for (int i = 0; i < 2; ++i) devices_.push_back(Device::open(GetParam(), memory_only));
  }
  std::vector<Device> devices_;
};

TEST_P(SessionSplit, UnevenRowsGiveWhatOneDeviceGives) {
  for (const std::int64_t batch : {2, 3, 17, 63}) {
    SCOPED_TRACE(batch);
    const CompiledModel model = compile(session_model(), devices_, options_of(batch, {2, 1}));
    EXPECT_EQ(model.report().weights_source, "given");
    Session session(model);
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const auto inputs = inputs_of(batch, seed);
      expect_right_for(batch, inputs, session.run(inputs));
    }
  }
}

/// R17's form: features down, items across.
TEST_P(SessionSplit, ColumnsGiveWhatOneDeviceGives) {
  const Model model = new_model("r17-digits", 3);
  for (const std::int64_t batch : {2, 17}) {
    SCOPED_TRACE(batch);
    const std::vector<NamedTensor> inputs{{"input", random_tensor({784, batch}, 4)}};
    Session whole(compile(model, devices_[0], options_of(batch, {})));
    Session session(compile(model, devices_, options_of(batch, {1, 2})));
    for (int run = 0; run < 2; ++run) {
      const auto expected = whole.run(inputs);
      const auto got = session.run(inputs);
      ASSERT_EQ(got.size(), 1U);
      EXPECT_EQ(got[0].tensor.shape(), (Shape{10, batch}));
      ASSERT_EQ(got[0].tensor.shape(), expected[0].tensor.shape());
      const auto a = expected[0].tensor.as<float>();
      const auto b = got[0].tensor.as<float>();
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
    }
  }
}

TEST_P(SessionSplit, RowsFollowTheMeasuredSpeed) {
  const CompiledModel model = compile(session_model(), devices_, options_of(17, {}));
  EXPECT_EQ(model.report().weights_source, "measured, rows a second");
  ASSERT_EQ(model.report().shares.size(), 2U);
  std::int64_t rows = 0;
  double speed = 0.0;
  for (const DeviceShare& share : model.report().shares) {
    EXPECT_GT(share.weight, 0.0);
    rows += share.rows;
    speed += share.weight;
  }
  EXPECT_EQ(rows, 17);
  const DeviceShare& first = model.report().shares[0];
  EXPECT_NEAR(static_cast<double>(first.rows), 17 * first.weight / speed, 1.0);
  Session session(model);
  const auto inputs = inputs_of(17, 5);
  expect_right_for(17, inputs, session.run(inputs));
}

TEST_P(SessionSplit, RunsMayFollowEachOther) {
  Session session(compile(session_model(), devices_, options_of(3, {1, 2})));
  const auto first = inputs_of(3, 1);
  const auto second = inputs_of(3, 2);
  for (const auto& input : first) session.set_input(input.name, input.tensor);
  session.enqueue().wait();
  expect_right_for(3, first, outputs_of(session));
  for (const auto& input : second) session.set_input(input.name, input.tensor);
  session.enqueue();
  session.enqueue();
  expect_right_for(3, second, outputs_of(session));
}

/// A run reads the rows of each device where they are; who asks again finds them all the same.
TEST_P(SessionSplit, OutputsCanBeReadAgainBehindARun) {
  const DeviceConfig memory_only{"", DeviceConfig::DiskCache::none};
  devices_.push_back(Device::open(GetParam(), memory_only));
  Session session(compile(session_model(), devices_, options_of(7, {3, 1, 2})));
  for (const std::uint64_t seed : {11, 12}) {
    const auto inputs = inputs_of(7, seed);
    expect_right_for(7, inputs, session.run(inputs));
    expect_right_for(7, inputs, outputs_of(session));
    std::vector<NamedTensor> mapped;
    for (const auto& port : session.model().outputs()) {
      mapped.push_back({port.name, session.map_output(port.name)});
    }
    expect_right_for(7, inputs, mapped);
    session.unmap();
  }
}

/// No kernel stands between the rows that come and those that go; more than a write stages.
TEST_P(SessionSplit, AnInputCanBeAnOutput) {
  NetworkBuilder network("same", 1);
  const TensorId input = network.input("x", {-1, 50000});
  network.output(network.node("Identity", {input}));
  network.output(network.relu(input));
  Session session(compile(Inside::make(network.finish()), devices_, options_of(5, {3, 2})));
  for (const std::uint64_t seed : {1, 2}) {
    const Tensor x = random_tensor({5, 50000}, seed);
    const std::vector<NamedTensor> inputs{{"x", x}};
    const std::vector<NamedTensor> got = session.run(inputs);
    ASSERT_EQ(got.size(), 2U);
    EXPECT_TRUE(std::ranges::equal(got[0].tensor.as<float>(), x.as<float>()));
    std::vector<float> positive;
    for (const float value : x.as<float>()) positive.push_back(std::max(value, 0.0F));
    EXPECT_TRUE(std::ranges::equal(got[1].tensor.as<float>(), positive));
  }
}

TEST_P(SessionSplit, PortsCanBeMapped) {
  Session session(compile(session_model(), devices_, options_of(3, {1, 2})));
  const auto inputs = inputs_of(3, 6);
  for (const auto& input : inputs) {
    Tensor mapped = session.map_input(input.name);
    std::copy_n(input.tensor.data(), input.tensor.bytes(), mapped.mutable_data());
  }
  session.unmap();
  session.enqueue();
  expect_right_for(3, inputs, outputs_of(session));
}

TEST_P(SessionSplit, StepTimesAndThePlanNameBothDevices) {
  SessionOptions profiling;
  profiling.profiling = SessionOptions::Profiling::on;
  Session session(compile(session_model(), devices_, options_of(5, {3, 2})), profiling);
  static_cast<void>(session.run(inputs_of(5, 7)));
  const auto times = session.step_times();
  EXPECT_EQ(times.size(), session.model().steps().size());
  EXPECT_EQ(times.front().kernel, "transfer");
  EXPECT_FALSE(times.front().device_us.has_value()) << "a transfer goes through the host";
  EXPECT_GT(times.front().enqueue_us, 0.0);
  const std::string text = session.model().plan_text(CompiledModel::Detail::brief);
  EXPECT_NE(text.find("device 1 scatter a"), std::string::npos) << text;
}

TEST_P(SessionSplit, MovesToOneDevice) {
  Session session(compile(session_model(), devices_, options_of(3, {1, 2})));
  const auto inputs = inputs_of(3, 8);
  static_cast<void>(session.run(inputs));
  session.move_to(devices_[1]);
  expect_right_for(3, inputs, session.run(inputs));
  EXPECT_EQ(session.model().devices().size(), 1U);
}

TEST_P(SessionSplit, RefusesWhatCannotBe) {
  const auto complaint = [&](std::int64_t batch, const std::vector<double>& weights) {
    return usage_complaint(
        [&] { static_cast<void>(compile(session_model(), devices_, options_of(batch, weights))); });
  };
  EXPECT_NE(complaint(1, {}).find("a batch of 1 cannot be split over 2 devices"),
            std::string::npos);
  EXPECT_NE(complaint(5, {1, 2, 3}).find("3 weights are given for 2 devices"), std::string::npos);
  EXPECT_NE(complaint(5, {1, 0}).find("not a number above 0"), std::string::npos);
  EXPECT_NE(usage_complaint([&] {
              static_cast<void>(compile(session_model(), devices_[0], options_of(5, {1, 2})));
            }).find("2 weights are given for 1 device"),
            std::string::npos);
  EXPECT_NE(usage_complaint([&] {
              static_cast<void>(compile(session_model(), std::vector<Device>{}));
            }).find("no device is given"),
            std::string::npos);
}

MORTON_ON_EVERY_DEVICE(SessionSplit);

/// Runs only in a process with two devices.
TEST(DISABLED_SessionSplitChild, TwoDevicesGiveWhatOneGives) {
  ASSERT_EQ(OpenClDevice::list().size(), 2U);
  const DeviceConfig memory_only{"", DeviceConfig::DiskCache::none};
  const std::vector<Device> devices{Device::open("0:0", memory_only),
                                    Device::open("0:1", memory_only)};
  ASSERT_NE(device_of(devices[0]), device_of(devices[1]));
  for (const std::vector<double>& weights : {std::vector<double>{1, 1}, {1, 4}, {}}) {
    const CompiledModel model = compile(session_model(), devices, options_of(17, weights));
    const auto rows = rows_in(model);
    EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}), 17);
    if (weights == std::vector<double>{1, 4}) {
      EXPECT_EQ(rows[0], 3);
    }
    EXPECT_EQ(model.report().shares[1].device, "0:1");
    Session session(model);
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      const auto inputs = inputs_of(17, seed);
      expect_right_for(17, inputs, session.run(inputs));
    }
  }
}

TEST(SessionSplitOverTwo, DevicesOfPocl) {
  const auto devices = OpenClDevice::list();
  const bool pocl =
      devices.size() == 1 && devices[0].driver.platform == "Portable Computing Language";
  if (!pocl)
    GTEST_SKIP() << "needs PoCL as the only platform, which gives as many devices as asked";
  const TemporaryFolder folder;
  const ChildResult child = test::run_tests_in_child(
      "DISABLED_SessionSplitChild.*",
      {{"POCL_DEVICES", "pthread pthread"}, {"POCL_CACHE_DIR", folder.path().string()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  EXPECT_NE(child.output.find("1 test from 1 test suite ran"), std::string::npos) << child.output;
}

}  // namespace
}  // namespace morton::test
