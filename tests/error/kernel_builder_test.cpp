// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are built in a process beside this one, whose compiler may end it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "morton/device.hpp"
#include "morton/error.hpp"
#include "morton/tools/build.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

KernelText some_text() {
  KernelText kernel;
  kernel.kernel = "gemm.some";
  kernel.function = "some";
  kernel.text = "__kernel void some(__global float* x) { x[0] = 1.0f; }\n";
  return kernel;
}

/// A process that opens the device as a worker does, and does `then` when it is to build.
KernelBuilder builder_that(const TemporaryFolder& folder, const std::string& then,
                           double timeout_ms) {
  const std::string answer = (folder.path() / "opened.json").string();
  const nlohmann::json device = nlohmann::json::parse(Device::open("cpu").json());
  write_bytes(answer, nlohmann::json{{"device", device}}.dump() + "\n");
  return KernelBuilder({"cpu",
                        {"/bin/sh", "-c", "read line; cat '" + answer + "'; read line; " + then},
                        timeout_ms});
}

TEST(KernelBuilder, ACompilerThatEndsItsProcessHasNotBuiltTheKernel) {
  const TemporaryFolder folder;
  KernelBuilder builder = builder_that(folder, "kill -ABRT $$", 60e3);
  for (int again = 0; again < 2; ++again) {
    const KernelBuild build = builder.build(some_text());
    EXPECT_FALSE(build.is_built);
    EXPECT_NE(build.problem.find("was ended by signal 6"), std::string::npos) << build.problem;
  }
}

TEST(KernelBuilder, ACompilerThatTakesTooLongHasNotBuiltTheKernel) {
  const TemporaryFolder folder;
  KernelBuilder builder = builder_that(folder, "sleep 60", 50.0);
  const KernelBuild build = builder.build(some_text());
  EXPECT_FALSE(build.is_built);
  EXPECT_FALSE(build.problem.empty());
}

TEST(KernelBuilder, RefusesWhatHasNoTextAndAWorkerThatIsNone) {
  KernelBuilder builder({"cpu", {"/bin/false"}, 60e3});
  EXPECT_THROW((void)builder.build({}), UsageError);
  EXPECT_THROW((void)builder.build(some_text()), DeviceError);
}

}  // namespace
}  // namespace morton::test
