// SPDX-License-Identifier: Apache-2.0
//
// What is measured of a device is positive and fits together, is kept, and is found again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "device/open/kept_peaks.hpp"
#include "device/probe/peak.hpp"
#include "device/probe/probe_host.hpp"
#include "device/probe/probe_memory.hpp"
#include "device/probe/probe_transfer.hpp"
#include "morton/tools/probe.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Short: these tests are about being right, not about the figures.
constexpr Sampling kShort{3, 0.5};

class DeviceProbe : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(DeviceProbe);

TEST_P(DeviceProbe, ThePeaksChainsComeToWhatTheyMust) {
  for (const PeakType type : {PeakType::f32, PeakType::i32, PeakType::f16}) {
    if (type == PeakType::f16 && !device().info().features.fp16) continue;
    for (const int width : {1, 16}) {
      SCOPED_TRACE(std::string(name_of(type)) + " " + std::to_string(width));
      PeakKernel kernel(shared_device(), width, type);
      EXPECT_GT(kernel.measure_gflops(0.5), 0.0);
      EXPECT_NO_THROW(kernel.check_result());
    }
  }
}

TEST_P(DeviceProbe, MemoryIsReadWrittenAndCopied) {
  MemoryProbe memory(shared_device(), 1 << 20);
  using Access = MemoryProbe::Access;
  // 1 and 100 KiB are rounded to what the compute units divide; the last is all of it.
  for (const std::int64_t wanted :
       {std::int64_t{1}, std::int64_t{100} << 10, std::int64_t{1} << 20}) {
    const std::int64_t footprint = memory.footprint_near(wanted);
    EXPECT_GT(footprint, 0);
    for (const Access access : {Access::read, Access::write, Access::copy, Access::image_read}) {
      if (!memory.can_measure(access, footprint)) {
        EXPECT_EQ(access, Access::image_read);
        continue;
      }
      SCOPED_TRACE(std::to_string(footprint) + " bytes, access " +
                   std::to_string(static_cast<int>(access)));
      // Sums are checked there; a wrong one throws.
      const std::vector<double> rates = memory.measure(access, footprint, kShort);
      EXPECT_THAT(rates, SizeIs(3));
      EXPECT_THAT(rates, Each(Gt(0.0)));
    }
  }
  EXPECT_FALSE(memory.can_measure(Access::read, memory.footprint_near(4 << 20)));
  EXPECT_THROW((void)memory.measure(Access::read, 17, kShort), InternalError);
}

TEST_P(DeviceProbe, BytesArriveByEveryWay) {
  TransferProbe transfers(shared_device(), 63 * 1024 + 17);
  using Direction = TransferProbe::Direction;
  using Way = TransferProbe::Way;
  for (const auto direction : {Direction::to_device, Direction::from_device}) {
    for (const auto way : {Way::pageable, Way::pinned, Way::mapped}) {
      EXPECT_THAT(transfers.measure(direction, way, kShort), Each(Gt(0.0)));
    }
    EXPECT_THAT(transfers.map_us(direction, kShort), Each(Gt(0.0)));
  }
}

TEST_P(DeviceProbe, WaitingForEachLaunchCostsNoLess) {
  LaunchProbe launches(shared_device());
  using Wait = LaunchProbe::Wait;
  const auto least = [](const std::vector<double>& times) {
    return *std::min_element(times.begin(), times.end());
  };
  const double queued = least(launches.measure_us(Wait::at_the_end, {7, 2.0}));
  const double waited = least(launches.measure_us(Wait::after_each, {7, 2.0}));
  EXPECT_GT(queued, 0.0);
  EXPECT_LT(queued, 2.0 * waited) << "launches that follow each other are no slower";
}

TEST_P(DeviceProbe, TheHostMultipliesWhatKernelsLeave) {
  if (!device().info().memory.is_unified) GTEST_SKIP() << "the device has memory of its own";
  HostProbe host(shared_device());
  for (const std::int64_t size : {1, 3, 17, 63}) {
    EXPECT_THAT(host.product_us(size, kShort), Each(Gt(0.0))) << size;
  }
  EXPECT_THAT(host.launch_and_step_us(kShort), Each(Gt(0.0)));
}

TEST(ProbeSampling, WorkThatTakesNoTimeIsAnError) {
  const Work nothing = [](std::int64_t) { return 0.0; };
  try {
    (void)sufficient_amount(nothing, 1, 1000, kShort, "measuring nothing");
    FAIL() << "accepted";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("measuring nothing: "));
    EXPECT_THAT(error.what(), HasSubstr("removed the work"));
  }
  const Work linear = [](std::int64_t amount) { return 0.001 * static_cast<double>(amount); };
  const std::int64_t amount = sufficient_amount(linear, 1, 1 << 20, kShort, "x");
  EXPECT_GE(linear(amount), kShort.sample_ms);
  EXPECT_LT(linear(amount), 16.0 * kShort.sample_ms);
}

class KeptPeaksTest : public test::DeviceTest {
 protected:
  [[nodiscard]] DeviceOptions options() const { return {folder_.path()}; }
  [[nodiscard]] std::shared_ptr<OpenClDevice> opened() const {
    return OpenClDevice::open(GetParam(), options());
  }
  [[nodiscard]] std::filesystem::path file() const {
    return path_of_peaks(folder_.path(), device().info());
  }
  static RooflinePeaks some_peaks() {
    return {123.5,
            45.25,
            1.5,
            9.5,
            {{16384, 200.0}, {1 << 20, 45.25}},
            "measured 2026-01-31",
            {12.5, {{1024, 0.25}, {65536, 8.5}}}};
  }

 private:
  test::TemporaryFolder folder_;
};
MORTON_ON_EVERY_DEVICE(KeptPeaksTest);

TEST_P(KeptPeaksTest, AreFoundByTheNextThatOpensTheDevice) {
  EXPECT_EQ(opened()->info().peaks.source, device().info().peaks.source);
  EXPECT_TRUE(opened()->notes().empty());
  EXPECT_EQ(keep_peaks(options().cache_folder, device().info(), some_peaks()), file());
  const auto again = opened();
  EXPECT_EQ(to_json(again->info().peaks), to_json(some_peaks()));
  EXPECT_TRUE(again->notes().empty());
  EXPECT_NE(OpenClDevice::open(GetParam(), {})->info().peaks.source, "measured 2026-01-31")
      << "without a cache folder nothing is kept";
  EXPECT_THROW((void)keep_peaks({}, device().info(), some_peaks()), UsageError);
}

TEST_P(KeptPeaksTest, OlderOnesHaveNothingOfTheHost) {
  keep_peaks(options().cache_folder, device().info(), some_peaks());
  Json older = parse_json(read_file(file(), 1 << 20), "kept peaks");
  EXPECT_EQ(older["roofs"].erase("host"), 1U);
  std::ofstream(file(), std::ios::binary | std::ios::trunc) << older.dump();
  const auto again = opened();
  EXPECT_TRUE(again->notes().empty());
  EXPECT_EQ(again->info().peaks.gflops_f32, some_peaks().gflops_f32);
  EXPECT_TRUE(again->info().peaks.host.products.empty());
}

TEST_P(KeptPeaksTest, DamagedOnesAreSaidAndSurvived) {
  keep_peaks(options().cache_folder, device().info(), some_peaks());
  const std::string whole = read_file(file(), 1 << 20);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    EXPECT_NE(text.find(from), std::string::npos);
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<std::string> damaged{"",
                                         "{",
                                         "null",
                                         std::string(300, '\0'),
                                         whole.substr(0, whole.size() / 2),
                                         replaced("\"schema\": 1", "\"schema\": 2"),
                                         replaced("123.5", "-1"),
                                         replaced("123.5", "0"),
                                         replaced("\"gflops_f32\"", "\"gflops\""),
                                         replaced("\"digest\": \"", "\"digest\": \"0"),
                                         replaced("16384", "9999999999"),
                                         replaced("0.25", "0"),
                                         replaced("65536", "17")};
  for (const std::string& text : damaged) {
    SCOPED_TRACE(text.substr(0, 200));
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << text;
    const auto device_with_damage = opened();
    EXPECT_EQ(to_json(device_with_damage->info().peaks), to_json(device().info().peaks));
    ASSERT_THAT(device_with_damage->notes(), SizeIs(1));
    EXPECT_THAT(device_with_damage->notes().front().print(), HasSubstr(file().string()));
    EXPECT_THAT(device_with_damage->notes().front().print(),
                HasSubstr("measure them again with probe"));
  }
  keep_peaks(options().cache_folder, device().info(), some_peaks());
  EXPECT_TRUE(opened()->notes().empty()) << "measuring again mends it";
}

TEST_P(KeptPeaksTest, AProbeFitsTogether) {
  const Device public_device = Inside::make(opened());
  double last = 0.0;
  ProbeOptions probe_options;
  probe_options.effort = ProbeOptions::Effort::quick;
  probe_options.progress = [&](const std::string&, double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
  };
  const ProbeResult result = probe(public_device, probe_options);
  const auto check = [](const Measured& measured) {
    EXPECT_GT(measured.median, 0.0);
    EXPECT_GT(measured.best, 0.0);
    EXPECT_GE(measured.samples, 3);
  };
  ASSERT_FALSE(result.arithmetic.empty());
  for (const auto& arithmetic : result.arithmetic) {
    check(arithmetic.gflops);
    EXPECT_LE(arithmetic.gflops.median, arithmetic.gflops.best);
  }
  ASSERT_FALSE(result.memory.empty());
  for (const auto& memory : result.memory) check(memory.gigabytes_per_second);
  EXPECT_THAT(result.transfers, SizeIs(6));
  for (const auto& transfer : result.transfers) check(transfer.gigabytes_per_second);
  check(result.launch_us);
  check(result.launch_and_wait_us);
  EXPECT_LE(result.launch_us.best, result.launch_us.median);
  const bool shares_memory = device().info().memory.is_unified;
  EXPECT_EQ(result.host_products.empty(), !shares_memory);
  for (const auto& product : result.host_products) check(product.us);
  if (shares_memory) check(result.launch_and_host_step_us);

  const RooflinePeaks peaks = peaks_of(result);
  EXPECT_GE(peaks.bandwidth.size(), 3U);
  EXPECT_DOUBLE_EQ(peaks.gigabytes_per_second, peaks.bandwidth.back().gigabytes_per_second);
  for (const auto& memory : result.memory) {
    EXPECT_LE(memory.gigabytes_per_second.best, bandwidth_at(peaks, memory.footprint_bytes));
  }
  EXPECT_THAT(peaks.source, ::testing::StartsWith("measured 20"));
  EXPECT_EQ(keep_peaks(public_device, result), file().string());
  EXPECT_EQ(opened()->info().peaks.source, peaks.source);
  EXPECT_DOUBLE_EQ(opened()->info().peaks.gflops_f32, peaks.gflops_f32);
  EXPECT_EQ(opened()->info().peaks.host.products.size(), result.host_products.size());
}

}  // namespace
}  // namespace morton::test
