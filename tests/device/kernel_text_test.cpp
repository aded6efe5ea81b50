// SPDX-License-Identifier: Apache-2.0
//
// What `morton kernel` prints is what a device compiles, with the arguments that are listed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "catalogue/catalogue.hpp"
#include "device/open/program_cache.hpp"
#include "morton/tools/kernel.hpp"
#include "morton/tools/problems.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class KernelTexts : public test::DeviceTest {
 protected:
  [[nodiscard]] std::string description() const { return to_json(device().info()).dump(); }

  /// Builds the texts as one program and counts each kernel's arguments.
  void expect_builds(const std::vector<KernelText>& texts) {
    std::string source;
    std::vector<std::string> functions;
    for (const KernelText& text : texts) {
      source += text.text;
      functions.push_back(text.function);
    }
    ProgramCache cache(device().context(), device().device(), device().info(), {});
    BuildReport report;
    const auto program = cache.get(source, functions, report);
    for (const KernelText& text : texts) {
      const cl::Kernel kernel(program->program, text.function.c_str());
      EXPECT_EQ(kernel.getInfo<CL_KERNEL_NUM_ARGS>(), text.arguments.size()) << text.kernel;
    }
  }
};
MORTON_ON_EVERY_DEVICE(KernelTexts);

TEST_P(KernelTexts, Compile) {
  std::vector<KernelText> texts;
  for (const auto& [family, names] : kernel_names()) {
    for (const std::string& name : names) {
      try {
        texts.push_back(kernel_text(name, {}, description()));
        EXPECT_EQ(texts.back().kernel, name);
        EXPECT_EQ(texts.back().family, family);
        EXPECT_TRUE(texts.back().problem.starts_with(family + " ")) << texts.back().problem;
      } catch (const UnsupportedError&) {
        continue;  // tests/plans/single_kernel_test.cpp sees that some device takes it
      }
    }
  }
  EXPECT_GT(texts.size(), 50U);
  expect_builds(texts);
}

TEST_P(KernelTexts, OfAModelAreThoseOfItsPlan) {
  const auto texts = kernel_texts(gemm_model({17, 3, 63}), description());
  ASSERT_FALSE(texts.empty());
  std::vector<KernelText> kernels;
  for (const KernelText& text : texts) {
    EXPECT_FALSE(text.step.empty());
    if (!text.text.empty()) kernels.push_back(text);
  }
  if (kernels.empty()) GTEST_SKIP() << "a library computes all steps";
  expect_builds({kernels.front()});
}

}  // namespace
}  // namespace morton::test
