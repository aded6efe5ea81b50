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
  /// Every third case; of many fewer; of a library, which builds for most sizes, few.
  [[nodiscard]] std::size_t stride_of_short_run(std::size_t cases) const {
    if (uses_library()) return 16;
    return cases < 40 ? 3 : cases < 200 ? 6 : 12;
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

/// True when one of the refusals is for what the device is.
bool needs_another_device(const std::map<std::string, int>& refused) {
  return std::ranges::any_of(refused, [](const auto& refusal) {
    const std::size_t requirement = refusal.first.find("it requires ");
    return requirement != std::string::npos &&
           refusal.first.find("device.", requirement) != std::string::npos;
  });
}

TEST_P(CatalogueEntries, ComputeTheirCases) {
  const Possible possible = possible_cases();
  WayReport planned;
  planned.graphs = static_cast<int>(possible.cases.size());
  planned.refused = possible.refused;
  std::cout << print(way_, planned);
  if (possible.cases.empty() && needs_another_device(possible.refused)) {
    GTEST_SKIP() << "it needs another device";
  }
  // A slip in a "require" must not leave a kernel untested.
  EXPECT_GE(planned.graphs, way_.least_cases);
  if (way_.least_cases == Way().least_cases) {
    EXPECT_GE(planned.graphs * 2, static_cast<int>(cases().size()))
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

/// Two cases of the same structure, for each family.
const std::map<std::string, std::pair<std::string, std::array<std::string, 2>>> kPairs = {
    {"gemm",
     {"Gemm", {"a | 5x7 7x9! 9! | | Relu | small", "b | 19x33 33x65! 65! | | Relu | small"}}},
    {"gemm of a vector",
     {"Gemm", {"a | 9x7! 7x1 | | Relu | small", "b | 65x33! 33x1 | | Relu | small"}}},
    {"batched_gemm",
     {"MatMul", {"a | 2x5x7 2x7x9! | | Relu | small", "b | 3x19x33 3x33x65! | | Relu | small"}}},
    {"integer_gemm",
     {"MatMulInteger",
      {"a | 5x7:u8 7x9:u8! =3:u8 =5:u8 | | | small",
       "b | 19x33:u8 33x65:u8! =3:u8 =5:u8 | | | small"}}},
    {"batched_integer_gemm",
     {"MatMulInteger",
      {"a | 2x5x7:u8 2x7x9:u8! =3:u8 =5:u8 | | | small",
       "b | 3x19x33:u8 3x33x65:u8! =3:u8 =5:u8 | | | small"}}},
    {"trees",
     {"Trees",
      {"a | 5x2 [1065353216,258,0,128,1077936128,256,1056964608,384] [0,1] [0] | feature_bits=3 | "
       "| small",
       "b | 19x3 "
       "[1065353216,258,0,128,1077936128,256,1056964608,384,1065353216,258,0,128,1077936128,256,"
       "1056964608,384] [0,1,4,1] [0] | feature_bits=3 | | small"}}},
    {"recurrence",
     {"RecurrentSequence",
      {"a | 3x2x4x5 4x5x5! 4x5! 2x2x5 [3,3] | cell=lstm | | small",
       "b | 4x5x4x9 4x9x9! 4x9! 2x5x9 [4,4,4,4,2] | cell=lstm | | small"}}},
    {"coupling",
     {"PairwiseCoupling",
      {"a | 5x3 | classes=3 | Relu | small", "b | 19x3 | classes=3 | Relu | small"}}},
    {"batched_integer_gemm of few columns",
     {"MatMulInteger",
      {"a | 2x5x7:u8 2x7x3:u8! =3:u8 =5:u8 | | | small",
       "b | 3x19x33:u8 3x33x9:u8! =3:u8 =5:u8 | | | small"}}},
    {"integer_gemm of few columns",
     {"MatMulInteger",
      {"a | 5x7:u8 7x3:u8! =3:u8 =5:u8 | | | small",
       "b | 19x133:u8 133x9:u8! =3:u8 =5:u8 | | | small"}}},
    {"integer_conv2d",
     {"BorderedConvInteger",
      {"a | 1x3x5x7:u8 4x3x3x3:i8! 3:u8! | pads=[1,1,1,1] | | small",
       "b | 2x3x9x8:u8 7x3x3x3:i8! 3:u8! | pads=[1,1,1,1] | | small"}}},
    {"integer_conv2d depthwise",
     {"BorderedConvInteger",
      {"a | 1x17x5x7:u8 17x1x3x3:i8! 17:u8! | group=17 pads=[1,1,1,1] | | small",
       "b | 2x35x9x8:u8 35x1x3x3:i8! 35:u8! | group=35 pads=[1,1,1,1] | | small"}}},
    {"integer_conv2d of many outputs",
     {"BorderedConvInteger",
      {"a | 1x3x5x7:u8 70x3x3x3:i8! 3:u8! | pads=[1,1,1,1] | |",
       "b | 2x3x9x8:u8 130x3x3x3:i8! 3:u8! | pads=[1,1,1,1] | |"}}},
    {"conv2d",
     {"Conv",
      {"a | 3x2x6x7 3x2x3x3! 3! | pads=[1,0,1,1] | Relu | small",
       "b | 2x2x11x8 5x2x3x3! 5! | pads=[1,0,2,1] | Relu | small"}}},
    {"conv2d padded alike",
     {"Conv",
      {"a | 3x2x6x7 3x2x3x3! 3! | pads=[1,0,1,0] | Relu | small",
       "b | 2x2x11x8 5x2x3x3! 5! | pads=[1,0,1,0] | Relu | small"}}},
    {"conv2d depthwise",
     {"Conv",
      {"a | 3x2x6x7 2x1x3x3! 2! | pads=[1,0,1,1] group=2 | Relu | small",
       "b | 5x2x11x8 2x1x3x3! 2! | pads=[1,0,2,1] group=2 | Relu | small"}}},
    {"conv2d filters",
     {"Conv",
      {"a | 3x2x6x7 3x2x3x5! 3! | pads=[1,0,1,1] | Relu | small",
       "b | 2x2x11x8 5x2x3x5! 5! | pads=[1,0,2,1] | Relu | small"}}},
    {"conv2d groups",
     {"Conv",
      {"a | 3x12x6x7 12x4x3x3! 12! | pads=[1,0,1,1] group=3 | Relu | small",
       "b | 2x12x11x8 12x4x3x3! 12! | pads=[1,0,2,1] group=3 | Relu | small"}}},
    {"conv2d.blocks_16",
     {"Conv",
      {"a | 3x32x6x7 32x16x3x3! 32! | pads=[1,0,1,1] group=2 | Relu | small",
       "b | 2x32x11x8 32x16x3x3! 32! | pads=[1,0,2,1] group=2 | Relu | small"}}},
    {"conv2d.pointwise",
     {"Conv",
      {"a | 1x5x6x7 5x5x1x1! 5! | | Relu | small", "b | 1x5x11x8 5x5x1x1! 5! | | Relu | small"}}},
    {"conv2d.pointwise_batched",
     {"Conv",
      {"a | 3x5x6x7 5x5x1x1! 5! | | Relu | small", "b | 2x5x11x8 5x5x1x1! 5! | | Relu | small"}}},
    {"conv2d_pool",
     {"Conv",
      {"a | 3x2x6x7 3x2x3x3! 3! | pads=[1,0,1,1] | Relu "
       "MaxPool{kernel_shape=[3,2];strides=[2,2];pads=[1,0,0,1]} | small",
       "b | 2x2x11x8 5x2x3x3! 5! | pads=[1,0,1,1] | Relu "
       "MaxPool{kernel_shape=[3,2];strides=[2,2];pads=[1,0,0,1]} | small"}}},
    {"attention",
     {"MatMul",
      {"a | 2x3x5x7 2x3x7x9 | | Mul(=0.5) Add(2x1x1x9) Softmax{axis=-1} MatMul(2x3x9x17) | small",
       "b | 1x2x7x5 1x2x5x4 | | Mul(=0.5) Add(1x2x7x4) Softmax{axis=-1} MatMul(1x2x4x16) | "
       "small"}}},
    {"conv_transpose2d",
     {"ConvTranspose",
      {"a | 3x2x6x7 2x3x3x3! 3! | strides=[2,1] | Relu | small",
       "b | 2x4x11x8 4x3x3x3! 3! | strides=[2,1] | Relu | small"}}},
    {"lp_pool2d",
     {"LpPool",
      {"a | 1x2x5x7 | kernel_shape=[2,3] | | small",
       "b | 3x5x9x8 | kernel_shape=[2,3] | | small"}}},
    {"max_pool2d_indices",
     {"MaxPool",
      {"a | 1x2x5x7 | kernel_shape=[2,3] | | small output=1",
       "b | 3x5x9x8 | kernel_shape=[2,3] | | small output=1"}}},
    {"max_pool2d_gradient",
     {"MaxPoolGradient",
      {"a | 1x2x5x7 1x2x2x3 | kernel_shape=[2,2] strides=[2,2] | | small",
       "b | 3x5x9x8 3x5x4x4 | kernel_shape=[2,2] strides=[2,2] | | small"}}},
    {"resize2d",
     {"Resize",
      {"a | 1x2x5x7 - - [1,2,11,9] | mode=linear | | small",
       "b | 2x3x6x5 - - [2,3,9,17] | mode=linear | | small"}}},
    {"max_pool2d",
     {"MaxPool",
      {"a | 1x2x5x7 | kernel_shape=[2,3] | | small",
       "b | 3x5x9x8 | kernel_shape=[2,3] | | small"}}},
    {"average_pool2d",
     {"AveragePool",
      {"a | 1x2x5x7 | kernel_shape=[2,3] | | small",
       "b | 3x5x9x8 | kernel_shape=[2,3] | | small"}}},
    {"elementwise", {"Add", {"a | 3x17 17! | | Tanh | small", "b | 7x65 65! | | Tanh | small"}}},
    {"bias", {"Add", {"a | 3x17 17! | | | small", "b | 33x65 65! | | | small"}}},
    {"sigmoid", {"Sigmoid", {"a | 3x17 | | | small", "b | 33x65 | | | small"}}},
    {"relu", {"Relu", {"a | 3x17 | | | small", "b | 33x65 | | | small"}}},
    {"pack", {"Slice", {"a | 3x17 [1] [9] [1] | | | small", "b | 7x65 [2] [33] [1] | | | small"}}},
    {"pack part",
     {"Concat", {"a | 3x5 3x7 | axis=1 | | small", "b | 9x17 9x33 | axis=1 | | small"}}},
    {"gather", {"Gather", {"a | 300x5 17:i32 | | | small", "b | 270x9 33:i32 | | | small"}}},
    {"scatter",
     {"ScatterElements",
      {"a | 300x5 17x5:i32 17x5 | | | small", "b | 270x9 33x9:i32 33x9 | | | small"}}},
    {"scatter.groups",
     {"ScatterElements", {"a | 300 17:i32 17 | | | small", "b | 270 33:i32 33 | | | small"}}},
    {"grid_sample",
     {"GridSample",
      {"a | 1x2x5x7 1x3x4x2 | | | small opset=20", "b | 2x3x9x8 2x4x5x2 | | | small opset=20"}}},
    {"roi_align",
     {"RoiAlign",
      {"a | 1x2x5x7 2x4 [0,0] | output_height=2 sampling_ratio=2 | | small opset=16",
       "b | 2x3x9x8 3x4 [0,1,1] | output_height=3 sampling_ratio=2 | | small opset=16"}}},
    {"roi_max_pool",
     {"MaxRoiPool",
      {"a | 1x2x5x7 2x5 | pooled_shape=[2,1] | | small",
       "b | 2x3x9x8 3x5 | pooled_shape=[3,2] | | small"}}},
    {"suppression",
     {"BoxSuppression",
      {"a | 1x7x4 1x2x5[0,3,1,6,2,5,4,3,2,1] 1x2[5,4] =0.5 [3] | | | small",
       "b | 2x9x4 2x1x7[8,0,3,1,6,2,7,5,4,3,2,1,0,8] 2x1[7,6] =0.5 [7] | | | small"}}},
    {"determinant", {"DeterminantPlace", {"a | 3x4x4 | | | small", "b | 5x7x7 | | | small"}}},
    {"softmax", {"Softmax", {"a | 3x17 | | | small", "b | 129x5 | | | small"}}},
    {"hardmax", {"Hardmax", {"a | 3x17 | | | small", "b | 129x5 | | | small"}}},
    {"reduce",
     {"ReduceMean", {"a | 3x5x17 | axes=[1] | | small", "b | 7x129x5 | axes=[1] | | small"}}},
    {"log_sum_exp",
     {"ReduceLogSumExp", {"a | 3x17 | axes=[1] | | small", "b | 129x5 | axes=[1] | | small"}}},
    {"inverse_deviation",
     {"LayerNormalization",
      {"a | 3x17 17! | | | small opset=17 output=2",
       "b | 129x5 5! | | | small opset=17 output=2"}}},
    {"arg_max", {"ArgMax", {"a | 3x17 | axis=1 | | small", "b | 129x5 | axis=1 | | small"}}},
    {"top_k", {"TopK", {"a | 3x17 [2] | | | small", "b | 129x5 [3] | | | small"}}},
    {"top_k.sorted", {"TopK", {"a | 3x17 [17] | | | small", "b | 129x5 [5] | | | small"}}},
    {"normalize",
     {"InstanceNormalization", {"a | 1x2x5x7 2! 2! | | | small", "b | 3x5x9x8 5! 5! | | | small"}}},
    {"cumulative_product",
     {"CumProd", {"a | 3x17 [1] | | | small opset=26", "b | 129x5 [1] | | | small opset=26"}}},
    {"cumulative_sum", {"CumSum", {"a | 3x17 [1] | | | small", "b | 129x5 [1] | | | small"}}},
    {"local_response",
     {"LRN", {"a | 1x5x3x7 | size=3 | | small", "b | 2x7x9x5 | size=3 | | small"}}},
};

/// The pair for a way: its family's, but for convolutions of a kind of their own.
std::string pair_of(const Way& way) {
  if (way.name.ends_with("integer_gemm.dots")) return way.family + " of few columns";
  if (way.name == "integer_conv2d.depthwise") return "integer_conv2d depthwise";
  if (way.name.starts_with("integer_conv2d.quads_")) return "integer_conv2d of many outputs";
  if (way.name.starts_with("conv2d.depthwise_")) return "conv2d depthwise";
  if (way.name.starts_with("conv2d.groups_")) return "conv2d groups";
  if (way.name.starts_with("conv2d.filter_")) return "conv2d filters";
  if (way.name.starts_with("conv2d.pointwise_") && !kPairs.contains(way.name)) {
    return "conv2d.pointwise";
  }
  if (way.name.ends_with("_gemv")) return "gemm of a vector";
  // CLBlast's routines pad both sides alike.
  if (way.name.find("clblast") != std::string::npos && way.family == families::conv2d.name()) {
    return "conv2d padded alike";
  }
  return kPairs.contains(way.name) ? way.name : way.family;
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
  const std::string pair = pair_of(way_);
  ASSERT_TRUE(kPairs.contains(pair)) << "add a pair of cases for " << pair;
  // The plan may choose another kernel inside for other sizes.
  if (way_.inside == Way::Inside::free) GTEST_SKIP() << way_.name << " has no kernel of its own";
  const auto& [op, lines] = kPairs.at(pair);
  std::vector<std::string> texts[2];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const TriedPlan tried = plan_of(parse_case(op, lines[i], "pair"));
    if (!tried.plan && needs_another_device({{tried.refusal, 1}})) GTEST_SKIP() << tried.refusal;
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
  if (report.graphs == 0 && needs_another_device(report.refused)) {
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
