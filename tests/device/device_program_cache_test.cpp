// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/files/trusted.hpp"
#include "base/stopwatch.hpp"
#include "device/open/program_cache.hpp"
#include "device/open/program_file.hpp"
#include "device/use/transfer.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramCacheSource = R"(
__kernel __attribute__((reqd_work_group_size(9, 1, 1)))
void twice(__global float* x) { x[get_global_id(0)] *= 2.0f; }
)";
constexpr const char* kTimes = "program times: ";
constexpr std::int64_t kReadLimit = 1 << 26;

/// Runs `twice` on 63 numbers; returns the milliseconds, checks the results.
double run_twice(OpenClDevice& device, const CachedProgram& program) {
  std::vector<float> values(63, 1.5F);
  const cl::CommandQueue queue = device.make_queue(OpenClDevice::QueueKind::plain);
  const Block block = device.memory().allocate(63 * 4);
  write_buffer(queue, device.info(), block.buffer(), 0, std::as_bytes(std::span(values)));
  const Stopwatch watch;
  cl::Kernel kernel(program.program, "twice");
  kernel.setArg(0, block.buffer());
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(63), cl::NDRange(9));
  queue.finish();
  const double spent_ms = watch.milliseconds();
  read_buffer(queue, device.info(), block.buffer(), 0, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, std::vector<float>(63, 3.0F));
  return spent_ms;
}

class DevicePrograms : public test::DeviceTest {
 protected:
  /// A cache of its own in the test's folder, as a new process would make it.
  std::unique_ptr<ProgramCache> fresh_cache() {
    return std::make_unique<ProgramCache>(device().context(), device().device(), device().info(),
                                          ProgramCache::Disk{folder_.path()});
  }
  /// The one entry in the folder.
  fs::path entry() const { return fs::directory_iterator(folder_.path() / "programs")->path(); }
  /// Builds, runs and stores `twice`.
  void fill() {
    const auto cache = fresh_cache();
    BuildReport report;
    const auto program = cache->get(kProgramCacheSource, {"twice"}, report);
    run_twice(device(), *program);
    ASSERT_EQ(cache->store(*program), "");
    ASSERT_TRUE(program->stored);
    ASSERT_TRUE(fs::exists(entry()));
  }
  test::TemporaryFolder folder_;
};
MORTON_ON_EVERY_DEVICE(DevicePrograms);

TEST_P(DevicePrograms, ComeFromSourceThenMemoryThenDisk) {
  fill();
  const auto cache = fresh_cache();
  BuildReport report;
  const auto program = cache->get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(report.kernels_from_disk, 1);
  EXPECT_EQ(report.kernels_built, 0);
  EXPECT_TRUE(report.dropped.empty());
  EXPECT_EQ(program->origin, CachedProgram::Origin::disk);
  EXPECT_EQ(cache->get(kProgramCacheSource, {"twice"}, report), program);
  EXPECT_EQ(report.kernels_from_memory, 1);
  EXPECT_EQ(cache->builds(), 0);
  run_twice(device(), *program);
  EXPECT_EQ(cache->store(*program), "");
}

TEST_P(DevicePrograms, AnotherSourceOrDeviceIsAnotherEntry) {
  fill();
  BuildReport report;
  const auto cache = fresh_cache();
  (void)cache->get(std::string(kProgramCacheSource) + "#define ANOTHER\n", {"twice"}, report);
  EXPECT_EQ(report.kernels_built, 1);
  DeviceInfo updated = device().info();
  updated.driver.version += ".1";
  ProgramCache other(device().context(), device().device(), updated,
                     ProgramCache::Disk{folder_.path()});
  (void)other.get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(report.kernels_built, 2);
  EXPECT_TRUE(report.dropped.empty());
}

TEST_P(DevicePrograms, SourcesThatDifferInCommentsAndLinesShareAnEntry) {
  fill();
  BuildReport report;
  const auto cache = fresh_cache();
  const std::string commented =
      "// another head\n#line 7 \"other.cl\"" + std::string(kProgramCacheSource) + "\n";
  const auto program = cache->get(commented, {"twice"}, report);
  EXPECT_EQ(report.kernels_from_disk, 1);
  EXPECT_EQ(cache->get(kProgramCacheSource, {"twice"}, report), program);
  EXPECT_EQ(report.kernels_from_memory, 1);
  EXPECT_EQ(cache->builds(), 0);
  run_twice(device(), *program);
}

TEST_P(DevicePrograms, WithoutAFolderNothingIsKept) {
  ProgramCache cache(device().context(), device().device(), device().info(), ProgramCache::Disk{});
  BuildReport report;
  const auto program = cache.get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(cache.store(*program), "");
  EXPECT_FALSE(program->stored);
  EXPECT_EQ(cache.builds(), 1);
}

TEST_P(DevicePrograms, ThreadsThatWantOneProgramGetTheSame) {
  ProgramCache cache(device().context(), device().device(), device().info(), ProgramCache::Disk{});
  std::array<std::shared_ptr<CachedProgram>, 8> programs;
  std::array<BuildReport, 8> reports;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    threads.emplace_back(
        [&, i] { programs[i] = cache.get(kProgramCacheSource, {"twice"}, reports[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  int built = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    EXPECT_EQ(programs[i], programs[0]);
    built += reports[i].kernels_built;
  }
  EXPECT_EQ(built, 1);
  EXPECT_EQ(cache.builds(), 1);
}

TEST_P(DevicePrograms, ABuildErrorShowsTheLog) {
  BuildReport report;
  const std::string source = "__kernel void wrong(__global float* x) { x[0] = undeclared; }\n";
  try {
    (void)device().programs().get(source, {"wrong"}, report);
    FAIL() << "it compiled";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("the kernels wrong: does not compile"), std::string::npos) << text;
    EXPECT_NE(text.find("undeclared"), std::string::npos) << text;
    EXPECT_NE(text.find(device().info().name), std::string::npos) << text;
  }
  std::string many = "__kernel void wrong(__global float* x) {\n";
  for (int i = 0; i < 300; ++i) many += "  x[0] = undeclared" + std::to_string(i) + ";\n";
  try {
    (void)device().programs().get(many + "}\n", {"wrong"}, report);
    FAIL() << "it compiled";
  } catch (const DeviceError& error) {
    EXPECT_LT(std::string(error.what()).size(), 10'000U);
  }
  EXPECT_EQ(device().programs().builds(), 0);
}

TEST_P(DevicePrograms, AMissingKernelIsNamed) {
  BuildReport report;
  try {
    (void)device().programs().get(kProgramCacheSource, {"twice", "thrice"}, report);
    FAIL() << "the kernel was found";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("no kernel thrice"), std::string::npos)
        << error.what();
  }
}

/// Damaged entries must not reach the driver: PoCL would crash this process or accept them.
TEST_P(DevicePrograms, DamagedEntriesAreDroppedBeforeTheDriverSeesThem) {
  fill();
  const fs::path path = entry();
  const std::string whole = read_file(path, kReadLimit);
  constexpr unsigned kSeed = 17;
  std::mt19937 random(kSeed);
  std::vector<std::string> damaged;
  const std::size_t step = whole.size() / 61 + 1;
  for (std::size_t size = 0; size < whole.size(); size += step) {
    damaged.push_back(whole.substr(0, size));
  }
  for (int i = 0; i < 300; ++i) {
    damaged.push_back(whole);
    char& byte = damaged.back()[random() % whole.size()];
    byte = static_cast<char>(byte ^ (1 << (random() % 8)));
  }
  for (const std::string& bytes : damaged) {
    EXPECT_THROW((void)decode_program_file(bytes, "x"), ModelError) << "seed " << kSeed;
  }
  // The whole way for a few of them, since each is built again.
  for (const std::size_t i : {std::size_t{0}, std::size_t{30}, damaged.size() - 1}) {
    write_trusted_file(path, damaged[i]);
    const auto cache = fresh_cache();
    BuildReport report;
    const auto program = cache->get(kProgramCacheSource, {"twice"}, report);
    EXPECT_EQ(report.kernels_built, 1);
    ASSERT_EQ(report.dropped.size(), 1U);
    EXPECT_NE(report.dropped[0].find("built from source instead"), std::string::npos);
    EXPECT_FALSE(fs::exists(path)) << "the bad entry stays";
    run_twice(device(), *program);
  }
}

TEST_P(DevicePrograms, AnEntryUnderAnotherNameIsDropped) {
  fill();
  const std::string whole = read_file(entry(), kReadLimit);
  const auto cache = fresh_cache();
  BuildReport report;
  const std::string other_source = std::string(kProgramCacheSource) + "#define ANOTHER\n";
  {
    const auto other = fresh_cache();
    const auto program = other->get(other_source, {"twice"}, report);
    write_trusted_file(folder_.path() / "programs" / (program->key + ".bin"), whole);
  }
  report = {};
  (void)cache->get(other_source, {"twice"}, report);
  EXPECT_EQ(report.kernels_built, 1);
  ASSERT_EQ(report.dropped.size(), 1U);
  EXPECT_NE(report.dropped[0].find("another program"), std::string::npos);
}

TEST_P(DevicePrograms, EntriesThatOthersMayWriteAreNotBelieved) {
  fill();
  ASSERT_EQ(::chmod(entry().c_str(), 0666), 0);
  BuildReport report;
  const auto cache = fresh_cache();
  const auto program = cache->get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(report.kernels_built, 1);
  ASSERT_EQ(report.dropped.size(), 1U);
  EXPECT_NE(report.dropped[0].find("others may write"), std::string::npos);
  run_twice(device(), *program);
  EXPECT_EQ(cache->store(*program), "");
  report = {};
  (void)fresh_cache()->get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(report.kernels_from_disk, 1) << "storing replaces it";
}

TEST_P(DevicePrograms, AFolderThatCannotBeWrittenIsSaidAndLivedWith) {
  const fs::path file = folder_.path() / "a_file";
  write_file_atomically(file, "in the way");
  ProgramCache cache(device().context(), device().device(), device().info(),
                     ProgramCache::Disk{file});
  BuildReport report;
  const auto program = cache.get(kProgramCacheSource, {"twice"}, report);
  run_twice(device(), *program);
  EXPECT_NE(cache.store(*program).find("not kept"), std::string::npos);
}

TEST_P(DevicePrograms, WritersDoNotDisturbEachOther) {
  fill();
  const fs::path path = entry();
  fs::remove(path);
  // One cache each, as processes that started together have; Oclgrind cannot run kernels of several
  // threads at once, so only the writing is concurrent.
  std::vector<std::unique_ptr<ProgramCache>> caches;
  std::vector<std::shared_ptr<CachedProgram>> programs;
  for (int i = 0; i < 4; ++i) {
    caches.push_back(fresh_cache());
    BuildReport report;
    programs.push_back(caches.back()->get(kProgramCacheSource, {"twice"}, report));
    EXPECT_EQ(report.kernels_built, 1);
    run_twice(device(), *programs.back());
  }
  std::vector<std::thread> writers;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    writers.emplace_back([&, i] { EXPECT_EQ(caches[i]->store(*programs[i]), ""); });
  }
  for (std::thread& writer : writers) writer.join();
  int files = 0;
  for (const auto& found : fs::directory_iterator(path.parent_path())) {
    ++files;
    EXPECT_NO_THROW((void)decode_program_file(read_file(found.path(), kReadLimit), "x"));
  }
  EXPECT_EQ(files, 1);
}

/// What lies in a folder of PoCL's: path to "size, time of writing". Without the empty tempfile_*
/// that PoCL makes in every process that lists devices, and without the time of last_accessed.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& found : fs::recursive_directory_iterator(folder)) {
    const std::string name = found.path().filename().string();
    if (!found.is_regular_file()) continue;
    if (name.starts_with("tempfile_") && found.file_size() == 0) continue;
    const auto written = found.last_write_time().time_since_epoch().count();
    files[fs::relative(found.path(), folder).string()] =
        std::to_string(found.file_size()) +
        (name == "last_accessed" ? "" : ", " + std::to_string(written));
  }
  return files;
}

std::vector<std::string> names_of(const std::map<std::string, std::string>& files) {
  std::vector<std::string> names;
  for (const auto& [name, facts] : files) names.push_back(name);
  return names;
}

TEST(DeviceProgramProcesses, TheSecondProcessCompilesNothing) {
  const auto devices = OpenClDevice::list();
  const bool has_pocl = std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& info) {
    return info.driver.platform == "Portable Computing Language";
  });
  if (!has_pocl) GTEST_SKIP() << "the test looks into PoCL's own cache, and PoCL is not here";
  const test::TemporaryFolder folder;
  const fs::path first_pocl = folder.path() / "pocl_1";
  const fs::path second_pocl = folder.path() / "pocl_2";
  fs::create_directory(first_pocl);
  fs::create_directory(second_pocl);
  const auto run = [&](const std::string& test, const fs::path& pocl) {
    const auto result = test::run_tests_in_child(
        "DeviceProgramProcesses.DISABLED_" + test,
        {{"POCL_CACHE_DIR", pocl.string()}, {"MORTON_CACHE_DIR", folder.path().string()}});
    EXPECT_EQ(result.exit_status, 0) << result.output;
    const std::size_t at = result.output.find(kTimes);
    ASSERT_NE(at, std::string::npos) << result.output;
    std::cout << result.output.substr(at, result.output.find('\n', at) - at + 1);
  };
  run("ChildBuilds", first_pocl);
  const auto after_first = contents(first_pocl);
  run("ChildLoads", first_pocl);
  EXPECT_EQ(contents(first_pocl), after_first) << "the second process wrote to PoCL's cache";
  // With an empty cache of PoCL's the code can come from our entry only.
  run("ChildLoads", second_pocl);
  // Loading unpacks there what the first process compiled, and nothing beside it.
  EXPECT_EQ(names_of(contents(second_pocl)), names_of(after_first));
}

/// The only device that PoCL's variables mean something to; others cannot be tested so.
std::shared_ptr<OpenClDevice> pocl_with_cache() {
  for (const DeviceInfo& info : OpenClDevice::list()) {
    if (info.driver.platform != "Portable Computing Language") continue;
    return OpenClDevice::open(info.id, {std::getenv("MORTON_CACHE_DIR")});
  }
  return nullptr;
}

TEST(DeviceProgramProcesses, DISABLED_ChildBuilds) {
  const auto device = pocl_with_cache();
  if (device == nullptr) GTEST_SKIP() << "no PoCL here";
  BuildReport report;
  const auto program = device->programs().get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(report.kernels_built, 1);
  std::cout << kTimes << "built in " << report.build_ms << " ms, first launch "
            << run_twice(*device, *program) << " ms\n";
  EXPECT_EQ(device->programs().store(*program), "");
}

TEST(DeviceProgramProcesses, DISABLED_ChildLoads) {
  const auto device = pocl_with_cache();
  if (device == nullptr) GTEST_SKIP() << "no PoCL here";
  BuildReport report;
  const auto program = device->programs().get(kProgramCacheSource, {"twice"}, report);
  EXPECT_EQ(report.kernels_from_disk, 1);
  EXPECT_EQ(report.kernels_built, 0);
  std::cout << kTimes << "loaded in " << report.build_ms << " ms, first launch "
            << run_twice(*device, *program) << " ms\n";
}

}  // namespace
}  // namespace morton::test
