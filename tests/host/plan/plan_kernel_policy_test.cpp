// SPDX-License-Identifier: Apache-2.0
//
// Which entries and recipes a policy lets planning consider, and what it says of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class KernelPolicyTest : public ::testing::Test {
 protected:
  std::vector<ConsideredEntry> entries(const PlanOptions& options, Family family,
                                       const TaskDecision* decision = nullptr) {
    return KernelPolicy(catalogue_, options).entries_for(family, {path_, decision});
  }

  std::vector<std::string> recipes(const PlanOptions& options, Family family) {
    std::vector<std::string> names;
    for (const auto& [recipe, why_not] :
         KernelPolicy(catalogue_, options).recipes_for(family, {path_, nullptr})) {
      names.push_back(recipe->name);
    }
    return names;
  }

  static std::string why_not(const std::vector<ConsideredEntry>& entries, const std::string& name) {
    for (const auto& [entry, why] : entries) {
      if (entry->name == name) return why ? print(*why).print() : "considered";
    }
    return "not offered";
  }

  std::shared_ptr<const Catalogue> catalogue_ = Catalogue::shared();
  RecipePath path_;
};

TEST_F(KernelPolicyTest, SaysWhyAnEntryMayNotBeConsidered) {
  PlanOptions options;
  options.exclude = {"gemm.tile"};
  const auto gemms = entries(options, families::gemm);
  EXPECT_EQ(why_not(gemms, "gemm.naive"), "considered");
  EXPECT_EQ(why_not(gemms, "gemm.tile"), "it is excluded by exclude");
  EXPECT_THAT(why_not(gemms, "gemm.r18_gemv"), HasSubstr("only where use gemm=gemm.r18_gemv"));
  EXPECT_EQ(why_not(gemms, "conv2d.naive"), "not offered");
}

TEST_F(KernelPolicyTest, OffersWhatUseNames) {
  PlanOptions options;
  options.use = {{"gemm", "r18_gemv"}};
  const auto gemms = entries(options, families::gemm);
  ASSERT_EQ(gemms.size(), 1U);
  EXPECT_EQ(why_not(gemms, "gemm.r18_gemv"), "considered");
  EXPECT_EQ(KernelPolicy(catalogue_, options).options().use.at("gemm"), "gemm.r18_gemv");
}

TEST_F(KernelPolicyTest, OffersTheTwinForBatches) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.naive"}};
  const auto batched = entries(options, families::batched_gemm);
  ASSERT_EQ(batched.size(), 1U);
  EXPECT_EQ(why_not(batched, "batched_gemm.naive"), "considered");
}

TEST_F(KernelPolicyTest, AWantedRecipeHasFreeChoiceInside) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.split_k"}};
  EXPECT_THAT(entries(options, families::gemm), IsEmpty());
  EXPECT_THAT(recipes(options, families::gemm), Contains("gemm.split_k"));
  path_ = {"gemm.split_k"};
  EXPECT_EQ(why_not(entries(options, families::gemm), "gemm.naive"), "considered");
  EXPECT_THAT(recipes(options, families::gemm), Not(Contains("gemm.split_k")));
}

TEST_F(KernelPolicyTest, ADecisionLeavesItsKernels) {
  TaskDecision decision;
  decision.kernels = {{"gemm.tile", {{"TILE_M", 8}}}};
  const auto gemms = entries({}, families::gemm, &decision);
  ASSERT_EQ(gemms.size(), 1U);
  const Entry& tile = *gemms.front().entry;
  EXPECT_EQ(tile.name, "gemm.tile");
  ASSERT_NE(decided_tunables(tile, &decision), nullptr);
  EXPECT_EQ(decided_tunables(tile, &decision)->at("TILE_M"), 8);
  EXPECT_EQ(decided_tunables(tile, nullptr), nullptr);
}

TEST_F(KernelPolicyTest, AChangeMakesAnotherPolicy) {
  const KernelPolicy all(catalogue_, {});
  const KernelPolicy fewer = all.without({"gemm.tile"});
  EXPECT_EQ(why_not(fewer.entries_for(families::gemm, {path_}), "gemm.tile"),
            "it computes wrongly");
  EXPECT_EQ(why_not(all.entries_for(families::gemm, {path_}), "gemm.tile"), "considered");
  EXPECT_EQ(all.for_one_of_several_devices().options().host_steps,
            PlanOptions::HostSteps::where_named);
  const auto built = std::make_shared<const BuiltKernels>();
  const KernelPolicy among = all.among(built, MissingKernels::refuse);
  EXPECT_EQ(among.options().built, built);
  EXPECT_EQ(among.options().missing, MissingKernels::refuse);
  EXPECT_EQ(all.options().built, nullptr);
}

TEST_F(KernelPolicyTest, RefusesNamesThatTheCatalogueHasNot) {
  PlanOptions options;
  options.exclude = {"gemm.tyle"};
  EXPECT_THROW(KernelPolicy(catalogue_, options), UsageError);
  options.exclude.clear();
  options.use = {{"gemm", "gemm.tyle"}};
  EXPECT_THROW(KernelPolicy(catalogue_, options), UsageError);
}

}  // namespace
}  // namespace morton::test
