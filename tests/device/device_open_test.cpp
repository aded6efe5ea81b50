// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "device/open/facts.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/quirks.hpp"
#include "device/use/timing.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

class DeviceOpen : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(DeviceOpen);

/// What opening `selector` complains about, with the class of the error in front.
std::string complaint(const std::string& selector) {
  try {
    (void)OpenClDevice::open(selector, {});
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const DeviceError& error) {
    return std::string("device: ") + error.what();
  }
  return "nothing";
}

TEST(DeviceList, FindsAtLeastOneDevice) {
  EXPECT_FALSE(OpenClDevice::list().empty()) << "every other device test would run on nothing";
}

TEST_P(DeviceOpen, FactsMakeSense) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.id, GetParam());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.compute.units, 1);
  EXPECT_GE(info.compute.max_work_group_size, 16);
  EXPECT_GE(info.memory.max_allocation_bytes, std::int64_t{1} << 20);
  EXPECT_GE(info.memory.global_bytes, info.memory.max_allocation_bytes);
  EXPECT_GE(info.memory.base_alignment_bytes, 1);
  EXPECT_GT(info.peaks.gflops_f32, 0.0);
  EXPECT_EQ(info.features.fp16 && has_effect(info, QuirkEffect::no_half), false);
  // What a file of facts says must pass its own checks.
  const Json json = to_json(info);
  EXPECT_EQ(to_json(device_info_from_json(JsonReader(json, "here"))), json);
}

TEST_P(DeviceOpen, TheSameDeviceByIdNameAndUnits) {
  const DeviceInfo& info = device().info();
  if (OpenClDevice::list().size() > 1) GTEST_SKIP() << "several devices: a name may be ambiguous";
  const std::string shout = [&] {
    std::string text = info.name;
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  }();
  for (const std::string& selector : {shout, std::string("auto"), std::string(name_of(info.kind)),
                                      "units=" + std::to_string(info.compute.units)}) {
    EXPECT_EQ(OpenClDevice::open(selector, {})->info().id, info.id) << selector;
  }
}

TEST_P(DeviceOpen, AdoptsACallersContext) {
  const cl::Context context(device().device());
  const auto adopted = OpenClDevice::adopt(context, device().device(), {});
  EXPECT_EQ(adopted->info().id, GetParam());
  EXPECT_EQ(adopted->context()(), context());
  EXPECT_THROW((void)OpenClDevice::adopt({}, device().device(), {}), UsageError);
}

TEST_P(DeviceOpen, AdoptsASubDevice) {
  if (device().info().compute.units < 2) GTEST_SKIP() << "one compute unit: nothing to divide";
  cl::Device whole = device().device();
  std::vector<cl::Device> parts;
  const cl_device_partition_property one_each[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  try {
    whole.createSubDevices(one_each, &parts);
  } catch (const cl::Error& error) {
    GTEST_SKIP() << "cannot be divided: " << opencl_error_text(error.err());
  }
  const cl::Context context(parts[1]);
  const auto adopted = OpenClDevice::adopt(context, parts[1], {});
  EXPECT_EQ(adopted->info().id, "adopted");
  EXPECT_EQ(adopted->info().compute.units, 1);
  const Block block = adopted->memory().allocate(63);
  const cl::CommandQueue queue = adopted->make_queue(OpenClDevice::QueueKind::plain);
  queue.enqueueFillBuffer(block.buffer(), cl_uint{7}, 0, 60);
  cl_uint last = 0;
  queue.enqueueReadBuffer(block.buffer(), CL_TRUE, 56, 4, &last);
  EXPECT_EQ(last, 7U);
  // PoCL 3.1's worker still touches what a command belonged to when its waiter has gone on.
  static std::vector<cl::Context> kept_contexts;
  static std::vector<cl::Device> kept_parts;
  kept_contexts.push_back(context);
  kept_parts.insert(kept_parts.end(), parts.begin(), parts.end());
}

TEST_P(DeviceOpen, ProfilingQueuesTellDeviceTimes) {
  const Block block = device().memory().allocate(std::int64_t{1} << 20);
  const auto fill = [&](OpenClDevice::QueueKind kind) {
    const cl::CommandQueue queue = device().make_queue(kind);
    cl::Event event;
    queue.enqueueFillBuffer(block.buffer(), cl_uint{7}, 0, 1 << 20, nullptr, &event);
    event.wait();
    return device_time_ns(event);
  };
  // What a plain queue's events say is up to the driver (Oclgrind gives times); asking must not
  // fail.
  (void)fill(OpenClDevice::QueueKind::plain);
  const auto time = fill(OpenClDevice::QueueKind::profiling);
  if (!device().info().features.profiling) GTEST_SKIP() << "its event times are known to be wrong";
  ASSERT_TRUE(time.has_value());
  EXPECT_GT(*time, 0);
  EXPECT_LT(*time, 10'000'000'000);
}

TEST_P(DeviceOpen, AnEventOfNoCommandHasNoTime) {
  cl::UserEvent event(device().context());
  // NVIDIA's driver may not return while one is still open.
  event.setStatus(CL_COMPLETE);
  EXPECT_FALSE(device_time_ns(event).has_value());
}

TEST(DeviceSelector, RefusesWhatNamesNoDevice) {
  EXPECT_EQ(complaint("99:0").find("usage: device '99:0': no device matches; there are:"), 0U);
  EXPECT_EQ(complaint("no such device").find("usage: "), 0U);
  EXPECT_EQ(complaint("units=12345").find("usage: "), 0U);
  EXPECT_NE(complaint("99:0").find("0:0"), std::string::npos) << "lists the devices";
  for (const char* bad :
       {"units=", "units=x", "units=0", "units=2 ", "units=99999999999999999999"}) {
    EXPECT_NE(complaint(bad).find("expected units=N"), std::string::npos) << bad;
  }
  EXPECT_EQ(complaint("").find("usage: no device is named"), 0U);
}

TEST(DeviceSelector, SaysSoWhenSeveralMatch) {
  const auto result = test::run_tests_in_child("DeviceSelector.DISABLED_ChildTwoDevices",
                                               {{"POCL_DEVICES", "pthread pthread"}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceSelector, DISABLED_ChildTwoDevices) {
  if (OpenClDevice::list().size() != 2) GTEST_SKIP() << "PoCL is not the only platform";
  EXPECT_NE(complaint("cpu").find("2 devices match, name one by its id"), std::string::npos);
  const auto second = OpenClDevice::open("0:1", {});
  EXPECT_EQ(second->info().id, "0:1");
  const auto first = OpenClDevice::open("0:0", {});
  EXPECT_THROW((void)OpenClDevice::adopt(first->context(), second->device(), {}), UsageError);
}

TEST(DeviceSelector, NoDriverMeansAnEmptyListAndADeviceError) {
  const test::TemporaryFolder empty;
  const auto result = test::run_tests_in_child("DeviceSelector.DISABLED_ChildNoDriver",
                                               {{"OCL_ICD_VENDORS", empty.path().string()}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceSelector, DISABLED_ChildNoDriver) {
  if (!OpenClDevice::list().empty()) {
    GTEST_SKIP() << "this machine's loader finds drivers that OCL_ICD_VENDORS does not name";
  }
  EXPECT_EQ(complaint("auto").find("device: no OpenCL device is found"), 0U) << complaint("auto");
}

TEST(DeviceErrors, NameTheCallTheCodeAndTheDevice) {
  EXPECT_EQ(opencl_error_text(-54), "CL_INVALID_WORK_GROUP_SIZE (-54)");
  EXPECT_EQ(opencl_error_text(-12345), "unknown error (-12345)");
  DeviceInfo info;
  info.name = "Thing";
  try {
    with_device_errors("layer 3", info, [] { throw cl::Error(-9999, "clFinish"); });
    FAIL() << "nothing was thrown";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("layer 3: clFinish returned "), 0U) << text;
    EXPECT_NE(text.find("(-9999) on Thing"), std::string::npos) << text;
    EXPECT_NE(text.find("start it again"), std::string::npos) << text;
  }
}

TEST(DeviceFacts, ExtensionsAreWholeWords) {
  EXPECT_TRUE(has_extension("a cl_khr_fp16", "cl_khr_fp16"));
  EXPECT_FALSE(has_extension("cl_khr_fp16x", "cl_khr_fp16"));
  EXPECT_FALSE(has_extension("", "cl_khr_fp16"));
}

}  // namespace
}  // namespace morton::test
