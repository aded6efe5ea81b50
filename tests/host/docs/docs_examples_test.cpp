// SPDX-License-Identifier: Apache-2.0
//
// What docs/how_to/add_a_kernel.md shows is a kernel that the catalogue takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "catalogue/catalogue.hpp"
#include "support/doc_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

TEST(AddAKernelPage, ItsExampleIsAnEntryThatReads) {
  const auto files = files_of_page("docs/how_to/add_a_kernel.md");
  ASSERT_THAT(files, testing::SizeIs(2));
  const auto& json = files.at("gemm/rows4.json");
  Catalogue catalogue = Catalogue::standard();
  const std::size_t shipped = catalogue.entries().size();
  catalogue.add_text(json, "gemm/rows4.json",
                     [&](const std::string& name) { return files.at("gemm/" + name); });
  EXPECT_EQ(catalogue.entries().size(), shipped + 2);  // the kernel, and the same in batches
  const Entry* entry = catalogue.find_entry("gemm.rows4");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->program.source, files.at("gemm/rows4.cl"));
  EXPECT_EQ(entry->operands.at("lhs").layout->tile(0), 4);
}

TEST(AddAKernelPage, ItsExampleOfAMistakeIsWhatTheReaderSays) {
  const auto files = files_of_page("docs/how_to/add_a_kernel.md");
  std::string json = files.at("gemm/rows4.json");
  const std::string name = "\"global\": [\"round_up(N";
  json.replace(json.find(name), name.size(), "\"global\": [\"round_up(Q");
  Catalogue catalogue;
  try {
    catalogue.add_text(json, "gemm/rows4.json", [](const std::string&) { return ""; });
    FAIL() << "accepted";
  } catch (const ModelError& error) {
    const std::string message = error.what();
    const std::string shown = message.substr(0, message.find("K, ") + 3) + "...";
    EXPECT_THAT(text_of_page("docs/how_to/add_a_kernel.md"), testing::HasSubstr(shown));
  }
}

}  // namespace
}  // namespace morton::test
