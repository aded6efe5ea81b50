// SPDX-License-Identifier: Apache-2.0
//
// Kernels shown by themselves (`morton kernel`): each has an example that it computes.
#include "plan/single/single_kernel.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/single/example_problem.hpp"
#include "plan/single/example_sizes.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

const Catalogue& shown_catalogue() {
  static const Catalogue kCatalogue = Catalogue::standard();
  return kCatalogue;
}

/// The saved device of this name, or "images_and_halves", a GPU that makes images so.
DeviceInfo showing_device(const std::string& name) {
  if (name != "images_and_halves") return saved_device(name);
  DeviceInfo device = saved_device("adreno_530");
  device.image.from_buffer = true;
  device.features.fp16 = true;
  return device;
}

SingleKernel shown_on(const std::string& device, const std::string& name,
                      const Environment& sizes = {}, const PlanOptions& options = {}) {
  return single_kernel(*shown_catalogue().find_entry(name), sizes, shown_catalogue(),
                       showing_device(device), options);
}

void expect_launchable(const SingleKernel& kernel) {
  const Environment values = argument_values(kernel.spec);
  EXPECT_NE(kernel.source.text.find(kernel.source.function), std::string::npos);
  for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(kernel.size.global[d] % kernel.size.local[d], 0);
  for (const InstanceArgument& argument : kernel.source.arguments) {
    if (argument.kind == InstanceArgument::Kind::operand) continue;
    EXPECT_TRUE(values.contains(argument.name)) << argument.name;
  }
}

TEST(SingleKernel, EveryKernelHasAnExampleOnSomeDevice) {
  for (const Entry& entry : shown_catalogue().entries()) {
    if (!entry.call.library.empty()) continue;
    SCOPED_TRACE(entry.name);
    std::string reasons;
    bool is_shown = false;
    std::vector<std::string> devices = saved_devices();
    devices.emplace_back("images_and_halves");
    for (const std::string& device : devices) {
      try {
        expect_launchable(shown_on(device, entry.name));
        is_shown = true;
      } catch (const UnsupportedError& error) {
        reasons += std::string("\n  ") + error.what();
      }
    }
    EXPECT_TRUE(is_shown) << reasons;
  }
}

TEST(SingleKernel, ClassicalModelsTakeAMillionRows) {
  for (const char* device : {"nvidia_h200", "adreno_530", "pocl_avx2"}) {
    for (const char* kernel : {"trees.walk", "coupling.rows"}) {
      SCOPED_TRACE(std::string(kernel) + " on " + device);
      const SingleKernel shown = shown_on(device, kernel, {{"N", 1'000'000}});
      expect_launchable(shown);
      EXPECT_LE(shown.size.global[1], 65535);
    }
  }
}

TEST(SingleKernel, EveryFamilyHasSizesForAllItsNames) {
  for (const ProblemFamily& family : problem_families()) {
    SCOPED_TRACE(family.name());
    const auto examples = example_sizes(family.name(), {});
    ASSERT_FALSE(examples.empty());
    for (const OperandSchema& schema : family.operands) {
      for (const auto dimension : schema.dimensions) {
        EXPECT_TRUE(examples.front().contains(dimension)) << dimension;
      }
    }
    for (const auto& names : {family.structure, family.parameters}) {
      for (const auto name : names) EXPECT_TRUE(examples.front().contains(name)) << name;
    }
  }
}

TEST(SingleKernel, SizesFollowFromThoseThatAreGiven) {
  const Environment sizes = example_sizes("conv2d", {{"C", 8}, {"KH", 5}, {"SW", 2}}).front();
  EXPECT_EQ(sizes.at("I"), 8);
  EXPECT_EQ(sizes.at("PT"), 2);
  EXPECT_EQ(sizes.at("OH"), 28);
  EXPECT_EQ(sizes.at("OW"), 14);
  const SingleKernel kernel = shown_on("pocl_cpu", "gemm.naive", {{"M", 3}});
  EXPECT_EQ(kernel.spec.problem.extents.at("M"), 3);
  EXPECT_EQ(kernel.spec.problem.extents.at("N"), 64);
}

TEST(SingleKernel, TakesTunablesAsPlansDo) {
  PlanOptions options;
  options.tunables = {{"gemm.tile", {{"TILE_M", 8}}}};
  EXPECT_EQ(shown_on("pocl_cpu", "gemm.tile", {}, options).choice.tunables->at("TILE_M"), 8);
  EXPECT_EQ(shown_on("pocl_cpu", "batched_gemm.tile", {}, options).choice.tunables->at("TILE_M"),
            8);
}

template <typename Thrown>
std::string refusal_of(const std::string& name, const Environment& sizes) {
  try {
    static_cast<void>(shown_on("mali_t628", name, sizes));
  } catch (const Thrown& error) {
    return error.what();
  }
  return "";
}

TEST(SingleKernel, SaysWhatCannotBe) {
  EXPECT_NE(refusal_of<UsageError>("gemm.naive", {{"Q", 1}})
                .find("problem: gemm has no size 'Q'; it has M, N, K"),
            std::string::npos);
  EXPECT_NE(refusal_of<UsageError>("gemm.naive", {{"M", 0}}).find("1 or more"), std::string::npos);
  EXPECT_NE(refusal_of<UsageError>("gemm.naive", {{"M", 1 << 20}, {"N", 1 << 20}})
                .find("more elements than kernels index"),
            std::string::npos);
  EXPECT_NE(refusal_of<UsageError>("conv2d.naive", {{"SH", 0}}).find("no problem of conv2d"),
            std::string::npos);
  EXPECT_NE(refusal_of<UsageError>("conv2d.naive", {{"H", 1}, {"PT", 0}, {"KH", 5}}).find("dst"),
            std::string::npos);
  // The device's own reason, not that of an example.
  EXPECT_NE(
      refusal_of<UnsupportedError>("conv2d.depthwise_planes", {}).find("it requires device.is_cpu"),
      std::string::npos);
  EXPECT_NE(refusal_of<UnsupportedError>("gemm.r18_gemv", {{"N", 2}}).find("it requires N == 1"),
            std::string::npos);
}

}  // namespace
}  // namespace morton::test
