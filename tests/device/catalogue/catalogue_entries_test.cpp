// SPDX-License-Identifier: Apache-2.0
//
// The catalogue is the test list: every entry and recipe on every case of its family, on every
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "device/catalogue/catalogue_pairs.hpp"
#include "device/catalogue/catalogue_runs.hpp"
#include "launch/library.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using WayOnDevice = std::tuple<std::string, std::string>;  // device, name of the way

/// What all tests of a process share: reading it takes longer than many of them.
struct Shared {
  test::TemporaryFolder folder;
  Catalogue catalogue = Catalogue::standard();
  Catalogue direct = catalogue_without_detours(folder.path());
  std::vector<Way> ways = all_ways(catalogue);
  std::map<std::string, std::vector<OperatorCase>> cases;  ///< of each family

  Shared() {
    for (const OperatorCase& test : shipped_cases()) {
      for (const std::string& family : families_of(test)) cases[family].push_back(test);
    }
  }
};
const Shared& shared() {
  static const Shared shared;
  return shared;
}

class CatalogueEntries : public ::testing::TestWithParam<WayOnDevice> {
 protected:
  void SetUp() override {
    device_ = OpenClDevice::open(std::get<0>(GetParam()), {});
    const std::vector<Way>& ways = shared().ways;
    const auto found = std::find_if(ways.begin(), ways.end(), [](const Way& way) {
      return way.name == std::get<1>(GetParam());
    });
    way_ = *found;
    turn_ = static_cast<std::size_t>(found - ways.begin());
    const std::string library = library_of(way_, shared().catalogue);
    if (!library.empty() && !available_libraries().contains(library)) {
      GTEST_SKIP() << "this build has no " << library;
    }
  }
  [[nodiscard]] const std::vector<OperatorCase>& cases() const {
    return shared().cases.at(way_.family);
  }
  /// The cases that the way can do, and why not the others.
  struct Possible {
    std::vector<OperatorCase> cases;
    std::map<std::string, int> refused;
  };
  [[nodiscard]] Possible possible_cases() const {
    Possible possible;
    for (const OperatorCase& test : cases()) {
      const TriedPlan tried = plan_of(test);
      if (tried.plan) {
        possible.cases.push_back(test);
      } else {
        ++possible.refused[tried.refusal];
      }
    }
    return possible;
  }
  [[nodiscard]] TriedPlan plan_of(const OperatorCase& test) const {
    return try_plan(to_test_graph(test, DataKind::integers), device_->info(), catalogue(), way_);
  }
  /// Every twelfth case; of many fewer; of a library, which builds for most sizes, few.
  [[nodiscard]] std::size_t stride_of_short_run(std::size_t cases) const {
    if (uses_library()) return 64;
    return cases < 40 ? 12 : cases < 200 ? 24 : 48;
  }
  /// The share of the cases that a run computes: without MORTON_TEST_LONG not all. Ways take turns
  /// with which.
  [[nodiscard]] std::vector<OperatorCase> share_of(const std::vector<OperatorCase>& all) const {
    const std::size_t stride = test::is_long_run() ? 1 : stride_of_short_run(all.size());
    std::vector<OperatorCase> share;
    for (std::size_t i = turn_ % std::min(stride, std::max<std::size_t>(all.size(), 1));
         i < all.size(); i += stride) {
      share.push_back(all[i]);
    }
    return share;
  }
  [[nodiscard]] const Catalogue& catalogue() const {
    return way_.inside == Way::Inside::free ? shared().catalogue : shared().direct;
  }
  [[nodiscard]] bool uses_library() const { return !library_of(way_, shared().catalogue).empty(); }
  /// Runs the cases with data of these kinds; returns how many graphs ran.
  WayReport run(const std::vector<OperatorCase>& cases, std::vector<DataKind> kinds,
                Execution execution) {
    std::vector<TestGraph> graphs;
    for (const DataKind kind : kinds) {
      for (const OperatorCase& test : cases) graphs.push_back(to_test_graph(test, kind));
    }
    return run_graphs(device_, catalogue(), way_, graphs, execution);
  }

  std::shared_ptr<OpenClDevice> device_;
  Way way_;
  std::size_t turn_ = 0;  ///< the way's place in the list of all
};

/// How many refusals are for what the device is.
int refused_for_device(const std::map<std::string, int>& refused) {
  int count = 0;
  for (const auto& [why, times] : refused) {
    const auto has = [&why = why](const char* text) { return why.find(text) != std::string::npos; };
    const std::size_t requirement = why.find("it requires ");
    const bool requires_another =
        requirement != std::string::npos && why.find("device.", requirement) != std::string::npos;
    const bool is_small = has("bytes of local memory exceed the device's");
    const bool is_fatal = has("it ends the process on this device");
    if (requires_another || is_small || is_fatal || has("the device lacks")) count += times;
  }
  return count;
}

TEST_P(CatalogueEntries, ComputeTheirCases) {
  const Possible possible = possible_cases();
  WayReport planned;
  planned.graphs = static_cast<int>(possible.cases.size());
  planned.refused = possible.refused;
  std::cout << print(way_, planned);
  const int for_device = refused_for_device(possible.refused);
  if (possible.cases.empty() && for_device > 0) {
    GTEST_SKIP() << "it needs another device";
  }
  // A slip in a "require" must not leave a kernel untested.
  EXPECT_GE(planned.graphs + for_device, way_.least_cases);
  if (way_.least_cases == Way().least_cases) {
    EXPECT_GE((planned.graphs + for_device) * 2, static_cast<int>(cases().size()))
        << "more than half of the cases are refused";
  }
  const std::vector<OperatorCase> tests = share_of(possible.cases);
  const WayReport guarded =
      run(tests, {DataKind::integers, DataKind::zero_mean}, Execution::guarded);
  // A kernel that writes beyond its memory would take the process down where nothing guards it.
  if (HasFailure()) return;
  const WayReport recycled = run(tests, {DataKind::same_sign}, Execution::runner);
  EXPECT_EQ(recycled.graphs, static_cast<int>(tests.size()));
  EXPECT_EQ(guarded.graphs, 2 * recycled.graphs);
  // Kernels depend on the structure of a case, not on its data: the second round finds them all.
  // A library builds its own, beside what other steps of the graphs may need.
  EXPECT_LE(guarded.programs_built, 1);
  EXPECT_GE(guarded.programs_built, uses_library() ? 0 : 1);
  EXPECT_EQ(recycled.programs_built, 0);
}

/// The same way with the standard work-groups of kernels whose extents shape them: of these other
/// extents build anew.
Way with_standard_work_groups(Way way, const Catalogue& catalogue, const DeviceInfo& device) {
  for (const std::string& kernel : way.kernels) {
    const Entry* entry = catalogue.find_entry(kernel);
    if (entry == nullptr || entry->launch.work_group == Entry::Launch::WorkGroup::standard)
      continue;
    way.tunables.try_emplace(kernel, standard_tunables(*entry, environment_of(device)));
  }
  return way;
}

TEST_P(CatalogueEntries, BuildNothingForOtherExtents) {
  way_ = with_standard_work_groups(way_, shared().catalogue, device_->info());
  // Which kernel adds a bias behind a product may depend on the extents.
  way_.use.try_emplace("elementwise", "elementwise.chain");
  const std::string pair = pair_of(way_);
  ASSERT_TRUE(case_pairs().contains(pair)) << "add a pair of cases for " << pair;
  // The plan may choose another kernel inside for other sizes.
  if (way_.inside == Way::Inside::free) GTEST_SKIP() << way_.name << " has no kernel of its own";
  const auto& [op, lines] = case_pairs().at(pair);
  std::vector<std::string> texts[2];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const TriedPlan tried = plan_of(parse_case(op, lines[i], "pair"));
    if (!tried.plan && refused_for_device({{tried.refusal, 1}}) > 0) GTEST_SKIP() << tried.refusal;
    ASSERT_TRUE(tried.plan) << lines[i] << ": " << tried.refusal;
    for (const InstanceSource& kernel : tried.plan->instances) texts[i].push_back(kernel.text);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_TRUE(uses_library() || !texts[0].empty());
  if (!test::is_long_run()) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const WayReport report =
        run({parse_case(op, lines[i], "pair")}, {DataKind::integers}, Execution::runner);
    EXPECT_EQ(report.programs_built, i == 0 ? 1 : 0) << lines[i];
  }
}

/// What of a way the ways before it try too: the source of its kernel (which serves other families
/// and other sizes of tiles), or the recipe around a kernel or around a library's routine.
bool is_variant(const Way& way, const Catalogue& catalogue, std::set<std::string>& sources) {
  if (way.name.find(" with ") != std::string::npos) return true;
  if (!library_of(way, catalogue).empty()) return way.use.size() > 1;
  const Entry* entry = catalogue.find_entry(way.name);
  return entry != nullptr && !sources.insert(entry->program.source_file).second;
}

/// All ways; without MORTON_TEST_LONG (./dev check --long) of the variants every fifth.
std::vector<std::string> way_names() {
  const Catalogue catalogue = Catalogue::standard();
  std::vector<std::string> names;
  std::set<std::string> sources;
  int variants = 0;
  std::vector<Way> ways = all_ways(catalogue);
  // A kernel's products of one batch come before those of several.
  std::ranges::stable_partition(ways,
                                [](const Way& way) { return !way.name.starts_with("batched_"); });
  for (const Way& way : ways) {
    const bool variant = is_variant(way, catalogue, sources);
    if (test::is_long_run() || !variant || variants++ % 5 == 0) names.push_back(way.name);
  }
  return names;
}

std::string name_of_test(const ::testing::TestParamInfo<WayOnDevice>& instance) {
  return test_name(std::get<0>(instance.param) + " " + std::get<1>(instance.param));
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, CatalogueEntries,
                         ::testing::Combine(::testing::ValuesIn(test::device_ids()),
                                            ::testing::ValuesIn(way_names())),
                         name_of_test);

/// Run by tools/oclgrind.sh: the simulator watches every access. Other devices have no need of it.
class CatalogueOclgrind : public CatalogueEntries {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CatalogueOclgrind);

TEST_P(CatalogueOclgrind, SmallCasesLeaveNothingToReport) {
  if (uses_library()) {
    GTEST_SKIP() << "a library's kernels are not ours to check";
  }
  if (way_.name.find("parted_recurrence.") != std::string::npos) {
    GTEST_SKIP()
        << "its work-groups read each other's rows behind atomic marks, and Oclgrind knows "
           "no order between work-groups";
  }
  std::vector<OperatorCase> small;
  for (const OperatorCase& test : cases()) {
    if (test.small) small.push_back(test);
  }
  const WayReport report = run(small, {DataKind::integers}, Execution::exact);
  if (report.graphs == 0 && refused_for_device(report.refused) > 0) {
    GTEST_SKIP() << print(way_, report);
  }
  EXPECT_GE(report.graphs, std::min(way_.least_cases, 5));
}

INSTANTIATE_TEST_SUITE_P(EveryWay, CatalogueOclgrind,
                         ::testing::Combine(::testing::ValuesIn(test::oclgrind_ids()),
                                            ::testing::ValuesIn(way_names())),
                         name_of_test);

}  // namespace
}  // namespace morton::test
