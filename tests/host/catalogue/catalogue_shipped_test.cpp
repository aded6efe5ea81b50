// SPDX-License-Identifier: Apache-2.0
//
// The catalogue that is built in: every entry reads, and says what the plan relies on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/tasks/narrow.hpp"
#include "problems/problem.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

const fs::path kKernelDir = fs::path(MORTON_SOURCE_DIR) / "src" / "kernels";

std::vector<std::string> names_of(const Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const auto& entry : catalogue.entries()) names.push_back(entry.name);
  for (const auto& recipe : catalogue.recipes()) names.push_back(recipe.name);
  return names;
}

TEST(ShippedCatalogue, ReadsAndHasTheFirstKernels) {
  const auto names = names_of(Catalogue::standard());
  for (const char* name : {"gemm.naive", "gemm.morton_4_2", "gemm.tile", "conv2d.naive",
                           "conv2d.im2col_gemm", "max_pool2d.naive", "average_pool2d.naive",
                           "elementwise.chain", "softmax.rows", "pack.generic"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

TEST(ShippedCatalogue, EveryFamilyHasAnEntryThatTakesEveryProblem) {
  const Catalogue catalogue = Catalogue::standard();
  for (const auto& family : problem_families()) {
    // No operator is lowered to a transform of Winograd's or to parts: only recipes pose them.
    if (family.name().starts_with("winograd_")) continue;
    if (family.id == families::parted_recurrence) continue;
    // Nor to these, which name a library's routines within recipes.
    if (family.id == families::unfold2d || family.id == families::filter_gemm) continue;
    // What no kernel for biases or activations takes, elementwise.chain does.
    if (is_narrow_family(family.id)) continue;
    // Their kernels demand rows, to which every tensor can be brought, and limit sizes alone.
    if (family.id == families::trees || family.id == families::coupling ||
        family.id == families::scatter || family.id == families::determinant ||
        family.id == families::recurrence || family.id == families::suppression) {
      continue;
    }
    int general = 0;
    for (const auto& entry : catalogue.entries()) {
      if (entry.family != family.id || !entry.require.empty()) continue;
      bool any = true;
      for (const auto& [name, format] : entry.operands) any = any && format.is_any();
      if (any) ++general;
    }
    EXPECT_GE(general, 1) << family.name();
  }
}

/// Extents of a problem that has every name of the family at `size`.
Environment sizes(const Entry& entry, std::int64_t size) {
  Environment values = environment_of(DeviceInfo{});
  for (const auto& [name, value] : standard_tunables(entry)) values[name] = value;
  for (const auto& name : known_names(entry)) {
    if (values.contains(name) || name.ends_with("_pad")) continue;
    values[name] = size;
  }
  for (const auto& name : known_names(entry)) {
    if (!name.ends_with("_pad")) continue;
    const std::string extent = name.substr(0, name.size() - 4);
    const auto align = entry.padding.align.find(extent);
    const std::int64_t step =
        align == entry.padding.align.end() ? 1 : align->second.evaluate(values);
    values[name] = (values.at(extent) + step - 1) / step * step;
  }
  return values;
}

TEST(ShippedCatalogue, GlobalSizesAreMultiplesOfLocalOnesAndReachEveryElement) {
  const Catalogue catalogue = Catalogue::standard();
  for (const auto& entry : catalogue.entries()) {
    for (const std::int64_t size : {1, 3, 17, 63, 64, 160}) {
      const Environment values = sizes(entry, size);
      for (std::size_t d = 0; d < entry.launch.local.size(); ++d) {
        const std::int64_t global = entry.launch.global[d].evaluate(values);
        const std::int64_t local = entry.launch.local[d].evaluate(values);
        EXPECT_EQ(global % local, 0) << entry.name << " size " << size << " dimension " << d;
        EXPECT_GT(global, 0) << entry.name << " size " << size;
        EXPECT_LE(global, 65535) << entry.name << " size " << size;
      }
    }
  }
}

TEST(ShippedCatalogue, SpreadsALongRangeOverTwoDimensions) {
  const Catalogue catalogue = Catalogue::standard();
  for (const char* name : {"elementwise.chain", "pack.generic"}) {
    const Entry* entry = catalogue.find_entry(name);
    ASSERT_NE(entry, nullptr);
    for (const std::int64_t size : {32767, 32768, 32769, 2000000011}) {
      const Environment values = sizes(*entry, size);
      const std::int64_t x = entry->launch.global[0].evaluate(values);
      const std::int64_t y = entry->launch.global[1].evaluate(values);
      EXPECT_GE(x * y, size) << name;
      EXPECT_LE(x, 65535) << name;
      EXPECT_LE(y, 65535) << name;
    }
  }
}

TEST(ShippedCatalogue, Morton42SaysWhatItsSourceSays) {
  const Catalogue catalogue = Catalogue::standard();
  const Entry* entry = catalogue.find_entry("gemm.morton_4_2");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->operands.at("lhs").layout_text, "R_2_4_R");
  EXPECT_EQ(entry->operands.at("lhs").padding, PaddingContents::zero);
  EXPECT_EQ(entry->operands.at("rhs").padding, PaddingContents::finite);
  EXPECT_EQ(entry->operands.at("rhs").layout, entry->operands.at("dst").layout);
  EXPECT_EQ(entry->padding.edges, Entry::Edges::pad);
  EXPECT_FALSE(entry->carries_epilogue);
  EXPECT_EQ(entry->padding.align.at("N").evaluate({}), 32);
  EXPECT_EQ(entry->launch.local[0].evaluate({}), 4);
  EXPECT_EQ(entry->launch.local[1].evaluate({}), 16);
  EXPECT_THAT(entry->launch.arguments,
              ::testing::ElementsAre("K_pad", "M_pad", "lhs", "rhs", "dst"));
  EXPECT_EQ(entry->program.source_file, "gemm/morton_4_2.cl");
}

TEST(ShippedCatalogue, ALayoutFollowsItsTunables) {
  const Catalogue catalogue = Catalogue::standard();
  const Entry* entry = catalogue.find_entry("gemm.tile");
  ASSERT_NE(entry, nullptr);
  const OperandFormat& rhs = entry->operands.at("rhs");
  const std::vector<std::string> dimensions{"K", "N"};
  EXPECT_FALSE(rhs.layout.has_value());
  EXPECT_FALSE(rhs.is_any());
  for (const std::int64_t columns : {16, 32, 64}) {
    const Layout layout = layout_of(rhs, dimensions, {{"TILE_N", columns}});
    EXPECT_EQ(layout.tile(1), columns);
    EXPECT_EQ(layout.tile(0), 1);
  }
  EXPECT_THROW(static_cast<void>(layout_of(rhs, dimensions, {})), ModelError);
  const OperandFormat& any = catalogue.find_entry("gemm.naive")->operands.at("lhs");
  EXPECT_TRUE(any.is_any());
  EXPECT_THROW(static_cast<void>(layout_of(any, dimensions, {})), InternalError);
}

TEST(ShippedCatalogue, StepsNameKernelsThatThereAre) {
  const Catalogue catalogue = Catalogue::standard();
  int named = 0;
  for (const Recipe& recipe : catalogue.recipes()) {
    for (const RecipeStep& step : recipe.steps) {
      if (step.kernel.empty()) continue;
      ++named;
      EXPECT_TRUE(catalogue.find_entry(step.kernel) != nullptr ||
                  catalogue.find_recipe(step.kernel) != nullptr)
          << recipe.name << ": " << step.kernel;
    }
  }
  EXPECT_GE(named, 3);
}

TEST(ShippedCatalogue, FromTheFolderIsTheSameAsBuiltIn) {
  EXPECT_EQ(names_of(Catalogue::from_folder(kKernelDir)), names_of(Catalogue::standard()));
}

TEST(ShippedCatalogue, KernelDirIsReadEachTime) {
  const fs::path folder =
      fs::temp_directory_path() / ("morton_kernels_" + std::to_string(getpid()));
  fs::copy(kKernelDir, folder, fs::copy_options::recursive);
  setenv("MORTON_KERNEL_DIR", folder.c_str(), 1);
  const auto before = Catalogue::standard().find_entry("gemm.naive")->program.source;
  std::ofstream(folder / "gemm" / "naive.cl", std::ios::app) << "// changed\n";
  const auto after = Catalogue::standard().find_entry("gemm.naive")->program.source;
  EXPECT_EQ(after, before + "// changed\n");

  std::ofstream(folder / "gemm" / "lonely.cl") << "void lonely() {}\n";
  EXPECT_THROW(static_cast<void>(Catalogue::standard()), ModelError);
  fs::remove(folder / "gemm" / "lonely.cl");
  fs::rename(folder / "gemm" / "naive.json", folder / "gemm" / "other.json");
  EXPECT_THROW(static_cast<void>(Catalogue::standard()), ModelError);

  setenv("MORTON_KERNEL_DIR", (folder / "missing").c_str(), 1);
  EXPECT_THROW(static_cast<void>(Catalogue::standard()), ModelError);
  unsetenv("MORTON_KERNEL_DIR");
}

}  // namespace
}  // namespace morton::test
