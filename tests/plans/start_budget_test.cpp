// SPDX-License-Identifier: Apache-2.0
//
// How many kernels a first start compiles on PoCL: each is a third to two thirds of a second. A
// number here goes down, or up with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "morton/architectures.hpp"
#include "morton/compile.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Budget = std::tuple<std::string, int>;

class StartBudget : public ::testing::TestWithParam<Budget> {};

/// The number before `word` in the text's last line that has it, or -1.
int number_before(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind(" " + word);
  if (at == std::string::npos) return -1;
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return begin == at ? -1 : std::stoi(text.substr(begin, at - begin));
}

TEST_P(StartBudget, OfKernelsIsKept) {
  const auto& [network, kernels] = GetParam();
  const Model model = new_model(network, 1);
  CompileOptions options;
  for (const PortInfo& input : model.inputs()) options.shapes[input.name] = {1, 3, 224, 224};
  const std::string text = plan_text(model, to_json(saved_device("pocl_cpu")).dump(),
                                     CompiledModel::Detail::brief, options);
  EXPECT_EQ(number_before(text, "kernels in"), kernels) << text.substr(text.size() - 200);
  EXPECT_EQ(number_before(text, "programs"), kernels) << "a program is one kernel";
}

std::string why_of(const std::string& network, const std::string& device) {
  const Model model = new_model(network, 1);
  CompileOptions options;
  for (const PortInfo& input : model.inputs()) options.shapes[input.name] = {1, 3, 224, 224};
  return plan_text(model, to_json(saved_device(device)).dump(), CompiledModel::Detail::why,
                   options);
}

TEST(FewKernels, AreSaidToSaveTooLittleForTheirCompilation) {
  EXPECT_THAT(why_of("mobilenet_v2", "pocl_cpu"),
              ::testing::ContainsRegex("pointwise_[0-9]+ is left out: it would save [0-9.]+ of "
                                       "[0-9.]+ us and have [0-9]+ kernel"));
  EXPECT_THAT(why_of("mobilenet_v2", "mali_t628"),
              ::testing::Not(::testing::HasSubstr("is left out: it would save")));
}

INSTANTIATE_TEST_SUITE_P(Networks, StartBudget,
                         ::testing::Values(Budget{"mobilenet_v2", 10}, Budget{"squeezenet1_1", 10},
                                           Budget{"resnet18", 16}, Budget{"resnet50", 13},
                                           Budget{"efficientnet_b0", 16}),
                         [](const auto& test) { return std::get<0>(test.param); });

}  // namespace
}  // namespace morton::test
