// SPDX-License-Identifier: Apache-2.0
//
// Programs between compiles, devices and processes, as the public interface reports them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <set>

#include "api/inside.hpp"
#include "base/files/file.hpp"
#include "device/session_network.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using std::filesystem::path;
using test::ChildResult;
using test::TemporaryFolder;
using ::testing::HasSubstr;

/// A device with no memory of programs: all it knows is on disk.
Device fresh_device(const std::string& id, const path& cache) {
  return Device::open(id, {cache.string(), DeviceConfig::DiskCache::use});
}

/// Compiles, checks an answer, and returns the report.
CompileReport checked_report(const Device& device) {
  const CompiledModel model = compile(session_model(), device, session_options());
  Session session(model);
  const auto inputs = session_inputs(1);
  expect_right(inputs, session.run(inputs));
  return model.report();
}

std::vector<path> files_below(const path& folder) {
  std::vector<path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class SessionCache : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(SessionCache);

TEST_P(SessionCache, BuiltOnceThenFromMemoryThenFromDisk) {
  const TemporaryFolder cache;
  const Device device = fresh_device(GetParam(), cache.path());
  const CompileReport first = checked_report(device);
  EXPECT_GT(first.kernels.built, 0);
  EXPECT_EQ(first.kernels.from_disk, 0);
  const int builds = device.program_builds();
  EXPECT_GT(builds, 0);

  const CompileReport second = checked_report(device);
  EXPECT_EQ(second.kernels.built, 0);
  EXPECT_EQ(second.kernels.from_memory, first.kernels.built);
  EXPECT_EQ(device.program_builds(), builds);

  const Device later = fresh_device(GetParam(), cache.path());
  const CompileReport third = checked_report(later);
  EXPECT_EQ(third.kernels.built, 0);
  EXPECT_EQ(third.kernels.from_disk, first.kernels.built);
  EXPECT_EQ(later.program_builds(), 0);
  EXPECT_THAT(third.notes, ::testing::IsEmpty());
}

TEST_P(SessionCache, WithoutADiskNothingIsWritten) {
  const TemporaryFolder cache;
  const Device device =
      Device::open(GetParam(), {cache.path().string(), DeviceConfig::DiskCache::none});
  EXPECT_GT(checked_report(device).kernels.built, 0);
  EXPECT_THAT(files_below(cache.path()), ::testing::IsEmpty());
}

/// A variable of the environment for as long as this lives.
class Surrounding {
 public:
  Surrounding(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Surrounding(const Surrounding&) = delete;
  Surrounding& operator=(const Surrounding&) = delete;
  ~Surrounding() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_P(SessionCache, WithoutADiskNothingIsRead) {
  const TemporaryFolder cache;
  std::filesystem::create_directory(cache.path() / "tuning");
  std::ofstream(cache.path() / "tuning" / "damaged.json") << "no tuning data";
  const Surrounding folder("MORTON_CACHE_DIR", cache.path().string());
  const Device with = Device::open(GetParam(), {"", DeviceConfig::DiskCache::use});
  EXPECT_THROW((void)compile(session_model(), with, session_options()), ModelError);
  const Device without = Device::open(GetParam(), {"", DeviceConfig::DiskCache::none});
  EXPECT_NO_THROW((void)compile(session_model(), without, session_options()));
}

TEST_P(SessionCache, AnotherShapeOfAModelBuildsNothing) {
  // Extents are arguments of kernels. These batches are planned alike on every device; a larger one
  // may be worth other kernels or formats, which then are built.
  const Device device = Inside::make(shared_device());
  CompileOptions options;
  options.other_shapes = CompileOptions::OtherShapes::leave;
  for (const char* kernel : {"gemm.naive", "gemm.tile"}) {
    SCOPED_TRACE(kernel);
    options.use = {{"gemm", kernel}, {"softmax", "softmax.rows"}};
    options.batch = 3;
    static_cast<void>(compile(session_model(), device, options));
    const int builds = device.program_builds();
    for (const std::int64_t batch : {5, 6}) {
      options.batch = batch;
      const CompiledModel other = compile(session_model(), device, options);
      EXPECT_EQ(other.report().kernels.built, 0) << "batch " << batch;
      EXPECT_EQ(other.inputs()[0].shape[0], batch);
    }
    EXPECT_EQ(device.program_builds(), builds);
  }
}

TEST_P(SessionCache, DamagedEntriesAreReportedAndBuiltAnew) {
  const std::vector<std::pair<std::string, std::function<void(const path&)>>> damages{
      {"truncated", [](const path& file) { resize_file(file, file_size(file) / 2); }},
      {"empty", [](const path& file) { resize_file(file, 0); }},
      {"one bit flipped",
       [](const path& file) {
         std::string bytes = read_file(file, 1 << 28);
         bytes[bytes.size() * 2 / 3] ^= 4;
         std::ofstream(file, std::ios::binary) << bytes;
       }},
      {"lengthened", [](const path& file) { std::ofstream(file, std::ios::app) << "more"; }},
      {"something else", [](const path& file) { std::ofstream(file) << "no program"; }},
  };
  const TemporaryFolder cache;
  const int kernels = checked_report(fresh_device(GetParam(), cache.path())).kernels.built;
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    const auto entries = files_below(cache.path() / "programs");
    ASSERT_FALSE(entries.empty());
    for (const path& entry : entries) damage(entry);
    const CompileReport report = checked_report(fresh_device(GetParam(), cache.path()));
    EXPECT_EQ(report.kernels.built, kernels);
    ASSERT_EQ(report.notes.size(), entries.size());
    EXPECT_THAT(report.notes[0].print(), HasSubstr(cache.path().string()));
    EXPECT_THAT(report.notes[0].print(), HasSubstr("built from source instead"));
    // What was written in its place is good.
    const CompileReport after = checked_report(fresh_device(GetParam(), cache.path()));
    EXPECT_EQ(after.kernels.built, 0);
    EXPECT_THAT(after.notes, ::testing::IsEmpty());
  }
}

TEST_P(SessionCache, EntriesOfOtherProgramsAreNotTaken) {
  const TemporaryFolder cache;
  const TemporaryFolder other_cache;
  static_cast<void>(checked_report(fresh_device(GetParam(), cache.path())));
  CompileOptions options = session_options();
  options.use = {{"gemm", "gemm.morton_4_2"}};
  static_cast<void>(
      compile(session_model(), fresh_device(GetParam(), other_cache.path()), options));
  const auto mine = files_below(cache.path() / "programs");
  const auto others = files_below(other_cache.path() / "programs");
  ASSERT_FALSE(mine.empty());
  // Under the names of mine lie the others' programs, each whole and with a good digest.
  std::set<path> same;
  for (const path& file : others) same.insert(file.filename());
  int replaced = 0;
  for (const path& file : mine) {
    for (const path& donor : others) {
      if (same.count(file.filename()) > 0 || donor.filename() == file.filename()) continue;
      copy_file(donor, file, std::filesystem::copy_options::overwrite_existing);
      ++replaced;
      break;
    }
  }
  ASSERT_GT(replaced, 0);
  const CompileReport report = checked_report(fresh_device(GetParam(), cache.path()));
  EXPECT_EQ(static_cast<int>(report.notes.size()), replaced);
  EXPECT_GT(report.kernels.built, 0);
}

TEST_P(SessionCache, AnUnwritableCacheIsReportedNotFatal) {
  const TemporaryFolder folder;
  const path file = folder.path() / "file";
  std::ofstream(file) << "in the way";
  const CompileReport report = checked_report(fresh_device(GetParam(), file / "cache"));
  EXPECT_GT(report.kernels.built, 0);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_THAT(report.notes[0].print(), HasSubstr("not kept"));
}

/// Run in a process of their own by the tests below.
TEST(DISABLED_SessionCacheChild, CompilesLenet) {
  const Device device = Device::open("0:0");
  CompileOptions options;
  options.batch = 20;
  const CompiledModel model =
      compile(Model::load(MORTON_SOURCE_DIR "/models/lenet5.onnx"), device, options);
  Session session(model);
  const auto tensors = read_tensors(MORTON_SOURCE_DIR "/models/lenet5.expected.npz");
  const auto find = [&](const std::string& name) {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const NamedTensor& tensor) { return tensor.name == name; });
  };
  const std::vector<NamedTensor> inputs{*find("input")};
  const auto outputs = session.run(inputs);
  const auto got = outputs[0].tensor.as<float>();
  const auto want = find("probabilities")->tensor.as<float>();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(std::fabs(got[i] - want[i]) < 2e-5F);
  std::printf("report: %d built, %d from disk, %d builds, %zu notes\n",
              model.report().kernels.built, model.report().kernels.from_disk,
              device.program_builds(), model.report().notes.size());
}

/// Files in which PoCL keeps what it compiled. Each process that loads it also leaves an empty
/// tempfile_XXXXXX there, from the check whether the folder can be written.
std::vector<path> pocl_kernels(const path& folder) {
  std::vector<path> files = files_below(folder);
  const auto empty_probe = [](const path& file) {
    return file.filename().string().starts_with("tempfile_") && file_size(file) == 0;
  };
  files.erase(std::remove_if(files.begin(), files.end(), empty_probe), files.end());
  return files;
}

TEST(SessionCacheProcess, ASecondProcessBuildsNothingAndPoclCompilesNothing) {
  if (OpenClDevice::list().empty()) GTEST_SKIP() << "no device";
  const TemporaryFolder morton_cache;
  const TemporaryFolder pocl_cache;
  const auto run = [&] {
    return test::run_tests_in_child("DISABLED_SessionCacheChild.CompilesLenet",
                                    {{"MORTON_CACHE_DIR", morton_cache.path().string()},
                                     {"POCL_CACHE_DIR", pocl_cache.path().string()}});
  };
  const ChildResult first = run();
  ASSERT_EQ(first.exit_status, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr(" 0 from disk"));
  EXPECT_THAT(first.output, ::testing::Not(HasSubstr("report: 0 built")));
  const auto before = pocl_kernels(pocl_cache.path());
  for (int again = 0; again < 2; ++again) {
    const ChildResult second = run();
    ASSERT_EQ(second.exit_status, 0) << second.output;
    EXPECT_THAT(second.output, HasSubstr("report: 0 built"));
    EXPECT_THAT(second.output, HasSubstr(" 0 builds, 0 notes"));
    EXPECT_EQ(pocl_kernels(pocl_cache.path()), before) << "PoCL compiled something again";
  }
}

Model softmax_model() {
  NetworkBuilder network("softmax", 1);
  network.output(network.node("Softmax", {network.input("x", {3, 5})}));
  return Inside::make(network.finish());
}

Model relu_model() {
  NetworkBuilder network("relu", 1);
  network.output(network.relu(network.input("x", {3, 5})));
  return Inside::make(network.finish());
}

/// MORTON_KERNEL_DIR names a copy of the kernels that this test may edit.
TEST(DISABLED_SessionCacheChild, RebuildsAnEditedKernel) {
  const path kernels = std::getenv("MORTON_KERNEL_DIR");
  const Device device = Device::open("0:0", {"", DeviceConfig::DiskCache::none});
  const std::vector<NamedTensor> inputs{{"x", random_tensor({3, 5}, 1)}};
  const auto row_sum = [&](const CompiledModel& model) {
    Session session(model);
    const auto outputs = session.run(inputs);
    double sum = 0.0;
    for (std::int64_t i = 0; i < 5; ++i) sum += outputs[0].tensor.at(i);
    return sum;
  };
  // The kernel that this test edits.
  CompileOptions edited;
  edited.use = {{"softmax", "softmax.rows"}};
  const CompiledModel before = compile(softmax_model(), device, edited);
  static_cast<void>(compile(relu_model(), device));
  EXPECT_NEAR(row_sum(before), 1.0, 1e-5);
  EXPECT_EQ(compile(softmax_model(), device, edited).report().kernels.built, 0);

  const path file = kernels / "softmax" / "rows.cl";
  std::string text = read_file(file, 1 << 20);
  const std::string quotient = "/ sum;";
  const auto at = text.find(quotient);
  ASSERT_NE(at, std::string::npos) << "the kernel has changed; this test edits it";
  text.replace(at, quotient.size(), "/ (2 * sum);");
  std::ofstream(file) << text;

  const CompiledModel after = compile(softmax_model(), device, edited);
  EXPECT_EQ(after.report().kernels.built, 1);
  EXPECT_NEAR(row_sum(after), 0.5, 1e-5);
  EXPECT_EQ(compile(relu_model(), device).report().kernels.built, 0);
  EXPECT_NEAR(row_sum(before), 1.0, 1e-5) << "what was compiled before stays as it is";

  // A kernel that does not compile any more: one clear error, and the old models go on.
  text.replace(text.find("/ (2 * sum);"), 3, "/ (2 ? sum");
  std::ofstream(file) << text;
  try {
    static_cast<void>(compile(softmax_model(), device, edited));
    ADD_FAILURE() << "a kernel that is no C was compiled";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rows_"));
    EXPECT_THAT(error.what(), HasSubstr("does not compile"));
  }
  EXPECT_NEAR(row_sum(after), 0.5, 1e-5);
}

TEST(SessionCacheProcess, AnEditedKernelIsRebuiltInTheSameProcess) {
  if (OpenClDevice::list().empty()) GTEST_SKIP() << "no device";
  const TemporaryFolder folder;
  const path kernels = folder.path() / "kernels";
  copy(path(MORTON_SOURCE_DIR) / "src" / "kernels", kernels,
       std::filesystem::copy_options::recursive);
  const ChildResult child = test::run_tests_in_child(
      "DISABLED_SessionCacheChild.RebuildsAnEditedKernel",
      {{"MORTON_KERNEL_DIR", kernels.string()}, {"POCL_CACHE_DIR", folder.path().string()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  EXPECT_THAT(child.output, HasSubstr("1 test from 1 test suite ran"));
}

}  // namespace
}  // namespace morton::test
