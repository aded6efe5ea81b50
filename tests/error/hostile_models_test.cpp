// SPDX-License-Identifier: Apache-2.0
//
// Two hundred models that nobody means well with, each in a process of its own: one clear error,
// soon and without much memory.
#include "error/hostile_models.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

// AddressSanitizer keeps what was freed, and looks at each access.
#ifdef __SANITIZE_ADDRESS__
constexpr int kRuntime = 40;
#else
constexpr int kRuntime = 1;
#endif
constexpr double kMostMs = 1000.0 * kRuntime;
/// Beside what the program itself takes.
constexpr std::int64_t kMostKib = std::int64_t{64 * 1024} * kRuntime;

/// A plan for a device that is not there: everything up to the device reads the model.
Outcome plan_of(const std::string& path) {
  return run_program({"plan", path, "--device-info", "tests/devices/pocl_cpu.json"});
}

/// The quicker of two: other processes may have the machine for a while.
Outcome judged(const std::string& path) {
  Outcome first = plan_of(path);
  if (first.cpu_ms <= kMostMs) return first;
  return plan_of(path);
}

/// Models that have no plan as a whole, but one in segments: `plan` names the wait.
constexpr int kThatWait = 15;

bool is_wait(const Outcome& outcome) {
  return outcome.status == 0 && outcome.out.find("wait: ") != std::string::npos;
}

TEST(HostileModels, EachGivesOneClearErrorOrWaitSoonAndWithLittleMemory) {
  const Outcome harmless = plan_of(kLenet);
  expect_success(harmless);
  const std::vector<HostileModel> models = hostile_models();
  EXPECT_GE(models.size(), 200U);
  std::set<std::string> names;
  int waits = 0;
  for (const HostileModel& model : models) {
    SCOPED_TRACE(model.name);
    EXPECT_TRUE(names.insert(model.name).second) << "two models of one name";
    const TemporaryFolder outer;
    const std::filesystem::path folder = outer.path() / "model";
    std::filesystem::create_directory(folder);
    const Outcome outcome = judged(model.write(folder));
    if (is_wait(outcome)) {
      EXPECT_NE(outcome.out.find(model.part), std::string::npos) << outcome.text();
      ++waits;
    } else {
      expect_error(outcome, kBadFile, model.part);
    }
    EXPECT_LT(outcome.cpu_ms, kMostMs) << outcome.text();
    EXPECT_LT(outcome.peak_kib, harmless.peak_kib + kMostKib) << outcome.text();
  }
  EXPECT_EQ(waits, kThatWait);
}

}  // namespace
}  // namespace morton::test
