// SPDX-License-Identifier: Apache-2.0
//
// The measured values that are built in: all of the kernels as they are now, since others would
// never be used.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "catalogue/catalogue.hpp"
#include "plan/measured/tuned_file.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

TEST(ShippedTuning, IsOfTheKernelsAsTheyAre) {
  const Catalogue catalogue = Catalogue::standard();
  const auto check = [&](const std::string& kernel, const std::string& hash) {
    const Entry* entry = catalogue.find_entry(kernel);
    ASSERT_NE(entry, nullptr) << kernel;
    EXPECT_EQ(hash, entry->program.digest.kernel)
        << kernel << " has changed since: measure it anew, or remove "
        << "what is known of it";
  };
  std::size_t records = 0;
  for (const auto& file :
       fs::directory_iterator(fs::path(MORTON_SOURCE_DIR) / "src" / "kernels" / "tuned")) {
    if (file.path().extension() != ".json") continue;
    SCOPED_TRACE(file.path().filename());
    TunedData data;
    (void)read_tuning_file(file.path(), data);
    for (const TunedRecord& record : data.records()) check(record.kernel, record.hash);
    for (const Verdict& verdict : data.verdicts()) check(verdict.kernel, verdict.hash);
    records += data.records().size();
  }
  // None is lost by the way.
  constexpr std::size_t kLeastRecords = 26;
  EXPECT_GE(records, kLeastRecords);
}

}  // namespace
}  // namespace morton::test
