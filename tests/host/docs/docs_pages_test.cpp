// SPDX-License-Identifier: Apache-2.0
//
// What README.md and the pages of docs/ say of the code is so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/environment_variables.hpp"
#include "ops/core/operator.hpp"
#include "support/doc_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const auto start = line.find_first_not_of(' ');
    lines.push_back(start == std::string::npos ? "" : line.substr(start));
  }
  return lines;
}

/// The text of a page between `<!-- NAME -->` and `<!-- end of NAME -->`.
std::string part_of_page(const std::string& page, const std::string& name) {
  const std::string text = text_of_page(page);
  const std::string open = "<!-- " + name + " -->\n";
  const auto start = text.find(open);
  const auto end = text.find("<!-- end of " + name + " -->");
  if (start == std::string::npos || end == std::string::npos) {
    throw std::runtime_error(page + " has no part '" + name + "'");
  }
  return text.substr(start + open.size(), end - start - open.size());
}

/// The words in backticks, in order.
std::vector<std::string> ticked_words(const std::string& text) {
  std::vector<std::string> words;
  for (auto at = text.find('`'); at != std::string::npos; at = text.find('`', at + 1)) {
    const auto end = text.find('`', at + 1);
    words.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return words;
}

TEST(AddAnOperatorPage, ShowsTheFilesOfTheRepository) {
  const auto files = files_of_page("docs/how_to/add_an_operator.md");
  EXPECT_EQ(files.size(), 3U);
  for (const auto& [name, text] : files) EXPECT_EQ(text, text_of_page(name)) << name;
}

TEST(AddAnOperatorPage, ShowsPartsOfTheRepositorysFiles) {
  const auto parts = blocks_of_page("docs/how_to/add_an_operator.md", "part of");
  EXPECT_EQ(parts.size(), 8U);
  for (const auto& [name, text] : parts) EXPECT_THAT(text_of_page(name), HasSubstr("\n" + text));
}

TEST(AddAProblemFamilyPage, ShowsTheFilesOfTheRepository) {
  const auto files = files_of_page("docs/how_to/add_a_problem_family.md");
  EXPECT_EQ(files.size(), 2U);
  for (const auto& [name, text] : files) EXPECT_EQ(text, text_of_page(name)) << name;
}

TEST(AddAProblemFamilyPage, ShowsPartsOfTheRepositorysFiles) {
  const auto parts = blocks_of_page("docs/how_to/add_a_problem_family.md", "part of");
  EXPECT_EQ(parts.size(), 1U);
  for (const auto& [name, text] : parts) EXPECT_THAT(text_of_page(name), HasSubstr("\n" + text));
}

TEST(Readme, ListsTheOperators) {
  const auto listed = ticked_words(part_of_page("README.md", "operators"));
  for (const std::string& name : listed) {
    EXPECT_NE(find_operator(name), nullptr) << "README.md lists " << name;
  }
  for (const Operator* op : operators()) {
    if (op->home == Operator::Home::morton || op->home == Operator::Home::inside) continue;
    EXPECT_NE(std::ranges::find(listed, op->name), listed.end())
        << "README.md has no " << op->name << " in its list of operators";
  }
}

/// The others have a gradient, or it follows from their chain, or they are computed when the model
/// is planned.
TEST(TrainingPage, ListsTheOperatorsWithoutAGradient) {
  std::vector<std::string> expected;
  for (const Operator* op : operators()) {
    // Of an operator that is written out in some forms alone, the others have none.
    const bool is_composed = op->expand != nullptr && op->lower == nullptr;
    const bool has_gradient =
        op->gradient != nullptr || op->chain != nullptr || op->host.alias || is_composed;
    if (has_gradient || op->host.values != nullptr || op->home != Operator::Home::onnx) continue;
    if (op->host.is_control) continue;  // what it is written out as has
    expected.emplace_back(op->name);
  }
  EXPECT_GE(expected.size(), 5U);
  EXPECT_THAT(ticked_words(part_of_page("docs/training.md", "operators without a gradient")),
              testing::UnorderedElementsAreArray(expected));
}

TEST(Readme, ListsTheEnvironmentVariables) {
  std::string expected = "| variable | meaning | example |\n|---|---|---|\n";
  for (const EnvironmentVariable& environment_variable : environment_variables()) {
    expected += "| `" + std::string(environment_variable.name) + "` | " +
                std::string(environment_variable.meaning) + " | `" +
                std::string(environment_variable.example) + "` |\n";
  }
  EXPECT_EQ(part_of_page("README.md", "environment_variables"), expected);
}

/// The snippet is what the example does, so it compiles and runs.
TEST(Readme, ShowsTheCoreOfTheExample) {
  const std::string page = text_of_page("README.md");
  const auto open = page.find("```cpp\n#include <morton/morton.hpp>\n");
  ASSERT_NE(open, std::string::npos);
  const auto start = page.find('\n', open) + 1;
  const auto snippet = lines_of(page.substr(start, page.find("```", start) - start));
  const auto example = lines_of(text_of_page("examples/01_run_onnx/main.cpp"));
  auto at = example.begin();
  int statements = 0;
  for (const std::string& line : snippet) {
    if (line.empty() || line.starts_with("//")) continue;
    at = std::find(at, example.end(), line);
    ASSERT_NE(at, example.end()) << "not in the example, or not in this order: " << line;
    ++statements;
  }
  EXPECT_GE(statements, 8);
}

TEST(CommandLinePage, HasASectionForEachCommand) {
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(text_of_page("cli/main.cpp"))) {
    const auto end = line.find("(app");
    const bool hidden = line.find("// hidden") != std::string::npos;
    if (!line.starts_with("add_") || end == std::string::npos || hidden) continue;
    commands.push_back("## morton " + line.substr(4, end - 4));
  }
  EXPECT_GE(commands.size(), 7U);
  std::vector<std::string> sections;
  for (const std::string& line : lines_of(text_of_page("docs/command_line.md"))) {
    if (line.starts_with("## morton ")) sections.push_back(line);
  }
  EXPECT_THAT(sections, ElementsAreArray(commands));
}

}  // namespace
}  // namespace morton::test
