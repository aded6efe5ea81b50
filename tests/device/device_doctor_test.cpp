// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/files/file.hpp"
#include "device/open/opencl_device.hpp"
#include "device/probe/doctor.hpp"
#include "support/child_process.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using Outcome = DoctorCheck::Outcome;

std::string text_of(const std::vector<DoctorCheck>& checks) {
  std::string text;
  for (const DoctorCheck& check : checks) {
    text += std::string(name_of(check.outcome)) + "  " + check.name + ": " + check.detail +
            (check.fix.empty() ? "" : "\n    fix: " + check.fix) + "\n";
  }
  return text;
}

/// The first check whose name begins so; fails the test when there is none.
DoctorCheck find(const std::vector<DoctorCheck>& checks, const std::string& name) {
  for (const DoctorCheck& check : checks) {
    if (check.name.starts_with(name)) return check;
  }
  ADD_FAILURE() << "no check '" << name << "' in\n" << text_of(checks);
  return {};
}

/// Whether every failed check has a fix and no other has one.
bool fixes_are_right(const std::vector<DoctorCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const DoctorCheck& check) {
    return (check.outcome == Outcome::failed) == !check.fix.empty() && !check.detail.empty();
  });
}

TEST(DeviceDoctor, FindsNothingWrongHere) {
  const test::TemporaryFolder folder;
  const auto checks = run_doctor(DoctorOptions{folder.path()});
  EXPECT_EQ(find(checks, "a kernel on 0:0").outcome, Outcome::ok) << text_of(checks);
  EXPECT_EQ(find(checks, "program cache").outcome, Outcome::ok) << text_of(checks);
  EXPECT_EQ(find(checks, "OpenCL loader").outcome, Outcome::ok) << text_of(checks);
  EXPECT_TRUE(fixes_are_right(checks)) << text_of(checks);
  std::cout << text_of(checks);
}

TEST(DeviceDoctor, SaysWhenTheProgramCacheCannotBeUsed) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "in the way");
  const auto checks = run_doctor(DoctorOptions{folder.path() / "file"});
  EXPECT_EQ(find(checks, "program cache").outcome, Outcome::failed) << text_of(checks);
  EXPECT_EQ(find(run_doctor(DoctorOptions{}), "program cache").outcome, Outcome::skipped);
}

TEST(DeviceDoctor, SaysWhenNoDriverIsThere) {
  const test::TemporaryFolder empty;
  auto result = test::run_tests_in_child("DeviceDoctor.DISABLED_ChildNoDriver",
                                         {{"OCL_ICD_VENDORS", empty.path().string()}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
  result = test::run_tests_in_child("DeviceDoctor.DISABLED_ChildNoDriver",
                                    {{"OCL_ICD_VENDORS", "/no/such/folder"}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceDoctor, DISABLED_ChildNoDriver) {
  if (!OpenClDevice::list().empty()) {
    GTEST_SKIP() << "this machine's loader finds drivers that OCL_ICD_VENDORS does not name";
  }
  const auto checks = run_doctor(DoctorOptions{});
  EXPECT_EQ(find(checks, "drivers in").outcome, Outcome::failed) << text_of(checks);
  EXPECT_EQ(find(checks, "platforms").outcome, Outcome::failed) << text_of(checks);
  EXPECT_EQ(find(checks, "devices").outcome, Outcome::skipped) << text_of(checks);
  EXPECT_TRUE(fixes_are_right(checks)) << text_of(checks);
}

TEST(DeviceDoctor, SaysWhichDriverDoesNotLoad) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "damaged.icd", "libmali_that_is_missing.so.1\n");
  write_file_atomically(folder.path() / "empty.icd", "");
  const auto result = test::run_tests_in_child("DeviceDoctor.DISABLED_ChildBadDrivers",
                                               {{"OCL_ICD_VENDORS", folder.path().string()}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceDoctor, DISABLED_ChildBadDrivers) {
  const auto checks = run_doctor(DoctorOptions{});
  const DoctorCheck damaged = find(checks, "driver damaged.icd");
  EXPECT_EQ(damaged.outcome, Outcome::failed);
  EXPECT_NE(damaged.detail.find("libmali_that_is_missing"), std::string::npos) << damaged.detail;
  EXPECT_EQ(find(checks, "driver empty.icd").outcome, Outcome::failed);
  EXPECT_TRUE(fixes_are_right(checks)) << text_of(checks);
}

TEST(DeviceDoctor, SaysWhenPoclsCacheCannotBeWritten) {
  // A loader may find a PoCL that no file in the folder of drivers names.
  const auto checks = run_doctor(DoctorOptions{});
  if (std::ranges::none_of(checks,
                           [](const auto& check) { return check.name == "PoCL's cache"; })) {
    GTEST_SKIP() << "no .icd file names PoCL";
  }
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "in the way");
  const auto result =
      test::run_tests_in_child("DeviceDoctor.DISABLED_ChildBadPoclCache",
                               {{"POCL_CACHE_DIR", (folder.path() / "file" / "cache").string()}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceDoctor, DISABLED_ChildBadPoclCache) {
  const auto checks = run_doctor(DoctorOptions{});
  EXPECT_EQ(find(checks, "PoCL's cache").outcome, Outcome::failed) << text_of(checks);
  EXPECT_TRUE(fixes_are_right(checks)) << text_of(checks);
}

}  // namespace
}  // namespace morton::test
