// SPDX-License-Identifier: Apache-2.0
// Worker processes that compile kernels (src/device/workers).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files/json_reader.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/quirks.hpp"
#include "device/workers/job_queue.hpp"
#include "device/workers/kernel_job.hpp"
#include "device/workers/pocl_objects.hpp"
#include "device/workers/private_folder.hpp"
#include "device/workers/worker_pool.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using std::filesystem::path;
using ::testing::HasSubstr;

void make_object(const path& cache, const std::string& work_group) {
  const path folder = cache / "AB" / "CDEF" / "twice" / work_group;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "twice.so") << "object";
}

TEST(PoclObjectsTest, TheOneObjectOfASmallGridIsLinked) {
  const TemporaryFolder cache;
  make_object(cache.path(), "8-1-1-goffs0-smallgrid");
  const PoclObjects objects(cache.path());
  EXPECT_TRUE(objects.link_launched("twice"));
  EXPECT_TRUE(std::filesystem::exists(cache.path() / "AB/CDEF/twice/0-0-0/twice.so"));
  EXPECT_EQ(objects.compiled(), 1);
  objects.clear();
  EXPECT_TRUE(std::filesystem::is_empty(cache.path()));
}

TEST(PoclObjectsTest, NothingElseIsLinked) {
  const std::array<std::vector<std::string>, 4> folders{
      {{"8-1-1-goffs0"},
       {"8-1-1-smallgrid"},
       {"0-0-0"},
       {"8-1-1-goffs0-smallgrid", "4-1-1-goffs0-smallgrid"}}};
  for (const auto& work_groups : folders) {
    const TemporaryFolder cache;
    for (const std::string& work_group : work_groups) make_object(cache.path(), work_group);
    const PoclObjects objects(cache.path());
    EXPECT_FALSE(objects.link_launched("twice")) << work_groups.front();
    EXPECT_EQ(objects.compiled(), static_cast<int>(work_groups.size()));
  }
  const TemporaryFolder cache;
  make_object(cache.path(), "8-1-1-goffs0-smallgrid");
  EXPECT_FALSE(PoclObjects(cache.path()).link_launched("thrice"));
}

KernelJob twice_job(const path& folder) {
  KernelJob job;
  job.source =
      "__kernel void twice(__global float* x, int n) {\n"
      "  const int i = get_global_id(0);\n  if (i < n) x[i] *= 2;\n}\n";
  job.function = "twice";
  job.options = "-cl-std=CL1.2 -w";
  job.global = {64, 1, 1};
  job.local = {8, 1, 1};
  job.arguments = {{JobArgument::Kind::buffer, 256, 0, 0}, {JobArgument::Kind::integer, 64, 0, 0}};
  job.key = "abc";
  job.owner = "def";
  job.path = (folder / "programs" / "abc.bin").string();
  return job;
}

TEST(KernelJobTest, IsReadAsItWasWritten) {
  KernelJob job = twice_job("/tmp");
  job.arguments.push_back({JobArgument::Kind::image_f16, 0, 7, 9});
  const Json json = to_json(job);
  EXPECT_EQ(to_json(kernel_job_from(JsonReader(json, "job"))), json);
}

TEST(JobQueueTest, AHelperThatDiesIsAProblemOfItsJob) {
  const TemporaryFolder folder;
  const auto outcomes = carry_out_jobs("/bin/false", {twice_job(folder.path())}, {});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_THAT(outcomes[0].problem, HasSubstr("ended with status 1"));
  EXPECT_THROW(static_cast<void>(carry_out_jobs("/bin/false", {twice_job("/proc/none")}, {})),
               Error);
}

TEST(WorkerPoolTest, AWorkerIsTakenAgainByItsProcessInItsEnvironment) {
  const auto started = [] {
    std::unique_ptr<WorkerProcess> worker = take_worker("cat");  // which answers what it is asked
    static_cast<void>(worker->ask({{"asked", 1}}, 60e3));
    return worker;
  };
  std::unique_ptr<WorkerProcess> worker = started();
  ASSERT_TRUE(worker->is_running());
  const WorkerProcess* const first = worker.get();
  keep_worker("cat", std::move(worker));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(take_worker("cat")->is_running() ? 1 : 0);
  int state = 1;
  ::waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_FALSE(take_worker("/bin/cat")->is_running());
  ::setenv("POCL_WORK_GROUP_METHOD", "cbs", 1);
  EXPECT_FALSE(take_worker("cat")->is_running());
  ::unsetenv("POCL_WORK_GROUP_METHOD");
  worker = take_worker("cat");
  EXPECT_EQ(worker.get(), first);
  EXPECT_EQ(worker->ask({{"asked", 2}}, 60e3).json.at("asked"), 2);
}

TEST(PrivateFolderTest, RemovesThoseOfProcessesThatAreGone) {
  const TemporaryFolder folder;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const std::string left = "morton-compile-" + std::to_string(gone);
  const std::string own = "morton-compile-" + std::to_string(::getpid());
  const std::vector<std::string> stay{own + "-abcdef", left, left + "-abcdefg",
                                      "morton-compile-abcdef", "x" + left + "-abcdef"};
  for (const std::string& name : stay) std::filesystem::create_directory(folder / name);
  std::filesystem::create_directories(folder / (left + "-abcdef") / "below");
  std::filesystem::create_directory(folder / (left + "-locked"));
  const int lock =
      ::open((folder / (left + "-locked")).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  remove_left_folders(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder / (left + "-abcdef")));
  EXPECT_TRUE(std::filesystem::exists(folder / (left + "-locked")));
  for (const std::string& name : stay) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  ::close(lock);
}

TEST(JobQueueTest, RemovesLocksThatNobodyHolds) {
  const TemporaryFolder folder;
  KernelJob job = twice_job(folder.path());
  std::filesystem::create_directory(folder / "programs");
  const path left = folder / "programs" / "left.bin.lock";
  std::ofstream(left) << "";
  static_cast<void>(carry_out_jobs("/bin/false", {job}, {}));
  EXPECT_FALSE(std::filesystem::exists(left));
}

class WorkersTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!has_effect(device().info(), QuirkEffect::one_build_at_a_time)) {
      GTEST_SKIP() << "its driver needs no worker processes";
    }
  }
  KernelJob job(const path& folder) {
    KernelJob job = twice_job(folder);
    job.device = device().info().name;
    job.driver_version = device().info().driver.version;
    job.id = device().info().id;
    return job;
  }
};
MORTON_ON_EVERY_DEVICE(WorkersTest);

TEST_P(WorkersTest, AKernelIsCompiledOnce) {
  if (!has_effect(device().info(), QuirkEffect::binary_compiles_again) || !pocl_is_as_it_comes()) {
    GTEST_SKIP() << "this driver's objects are not linked";
  }
  const TemporaryFolder folder;
  int told = 0;
  const auto outcomes = carry_out_jobs(compile_helper(), {job(folder.path())}, [&] { ++told; });
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].problem, "");
  EXPECT_EQ(outcomes[0].compiled, 1);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "programs" / "abc.bin"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "programs" / "abc.bin.lock"));
}

TEST_P(WorkersTest, AKernelThatDoesNotCompileIsAProblem) {
  const TemporaryFolder folder;
  KernelJob bad = job(folder.path());
  bad.source = "__kernel void twice(__global float* x, int n) { x[0] = ; }\n";
  bad.path += ".bad";
  const auto outcomes = carry_out_jobs(compile_helper(), {bad, job(folder.path())}, {});
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_THAT(outcomes[0].problem, HasSubstr("CL_BUILD_PROGRAM_FAILURE"));
  EXPECT_EQ(outcomes[1].problem, "");
  EXPECT_FALSE(std::filesystem::exists(bad.path));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "programs" / "abc.bin"));
}

}  // namespace
}  // namespace morton::test
