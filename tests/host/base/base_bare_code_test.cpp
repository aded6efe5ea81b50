// SPDX-License-Identifier: Apache-2.0
//
// What of a kernel's text its meaning depends on.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "base/text/bare_code.hpp"
#include "catalogue/catalogue.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

TEST(BareCode, LeavesOutWhatChangesNothing) {
  const std::string plain = "int a = 1; float b;";
  for (const char* text : {
           "int a = 1; float b;",
           "  int a = 1;\n\n\tfloat b;  \n",
           "// SPDX\nint a = 1; // one\nfloat b;",
           "int a = /* one */ 1;\r\nfloat b;\r\n",
           "int a/**/=/*\n * two lines\n */1; float b;",
           "int a = 1; // joined \\\n to the next line\nfloat b;",
           "int a \\\n= 1; fl\\\noat b;",
           "#line 7 \"gemm/naive.cl\"\nint a = 1;\n # line 9\nfloat b;",
           "int a = 1;\n#line 1 \"x, generated\"\nfloat b;",
       }) {
    EXPECT_EQ(bare_code(text), plain) << text;
  }
  EXPECT_EQ(bare_code(""), "");
  EXPECT_EQ(bare_code("// alone"), "");
  EXPECT_EQ(bare_code("/**/ // \n"), "");
}

TEST(BareCode, KeepsWhatMatters) {
  // Neither is a comment, nor are blanks in a string.
  EXPECT_EQ(bare_code("x = \"a  // b /* c\"  +  '/*';"), "x = \"a  // b /* c\" + '/*';");
  EXPECT_EQ(bare_code("x = \"\\\"  //\"; // y"), "x = \"\\\"  //\";");
  EXPECT_EQ(bare_code("c = '\\''; // '"), "c = '\\'';");
  EXPECT_EQ(bare_code("a / b * c"), "a / b * c");
  // Whether there is a blank may matter to a macro; how many are there does not.
  EXPECT_NE(bare_code("#define F(x) x"), bare_code("#define F (x) x"));
  EXPECT_EQ(bare_code("#define F(x)\t  x"), bare_code("#define F(x) x // y"));
  EXPECT_EQ(bare_code("a/**/b"), "a b");
  // A word that begins as a comment's end does.
  EXPECT_EQ(bare_code("a /* b"), "a /* b");
  EXPECT_EQ(bare_code("\"open\n// b"), "\"open");
}

TEST(BareCode, DirectivesStandInLinesOfTheirOwn) {
  EXPECT_EQ(bare_code("int a;\n\n  #define B 1 \\\n    + 2 // three\n int c;\nint d;\n#undef B\n"),
            "int a;\n#define B 1 + 2\nint c; int d;\n#undef B");
  EXPECT_EQ(bare_code("/* c */ #define B /*\n*/ 1\nB"), "#define B 1\nB");
  EXPECT_EQ(bare_code("#pragma unroll\nfor (;;)"), "#pragma unroll\nfor (;;)");
  EXPECT_NE(bare_code("#pragma unroll\nfor (;;)"), bare_code("#pragma unroll for (;;)"));
  // In a line with something before it, it is no directive.
  EXPECT_EQ(bare_code("a # line 3\nb"), "a # line 3 b");
  EXPECT_EQ(bare_code("#linear\n#line_up\n"), "#linear\n#line_up");
  EXPECT_EQ(bare_code("#define A 1\n#line 5\n#define B 2"), "#define A 1\n#define B 2");
}

TEST(BareCode, TextsWhoseLinesMatterStayAsTheyAre) {
  for (const char* text : {"int a = __LINE__; // b\n", "  s = __FILE__;\n", "// a \?\?/\nint b;\n",
                           "// a \\  \nint b;\n", "// a\rint b;\n", "int a;\r"}) {
    EXPECT_EQ(bare_code(text), text) << text;
  }
}

TEST(BareCode, IsItsOwnAndHasNoCommentsInAnyShippedKernel) {
  const Catalogue catalogue = Catalogue::standard();
  for (const Entry& entry : catalogue.entries()) {
    if (entry.program.source.empty()) continue;
    EXPECT_EQ(bare_code(entry.program.source), entry.program.code) << entry.name;
    EXPECT_EQ(bare_code(entry.program.code), entry.program.code) << entry.name;
    EXPECT_EQ(entry.program.code.find("SPDX"), std::string::npos) << entry.name;
    EXPECT_LT(entry.program.code.size(), entry.program.source.size()) << entry.name;
  }
}

/// `text` with comments, blanks, empty lines and `#line` between its lines, as `random` has it.
std::string disturbed(const std::string& text, std::mt19937& random) {
  static const char* const kBetween[] = {
      "\n",    "// a comment, \"quoted\n",     "  /* two\nlines */\n", "#line 17\n",
      "\t \n", "#line 3 \"other.cl\" // why\n"};
  std::string result;
  bool goes_on = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // A line that is joined to the one before takes nothing in between.
    while (!goes_on && random() % 3 == 0) result += kBetween[random() % std::size(kBetween)];
    goes_on = line.ends_with('\\');
    result += line;
    if (!goes_on && line.find("//") == std::string::npos && random() % 2 == 0) result += " // end";
    result += "\n";
  }
  return result;
}

TEST(BareCode, OfShippedKernelsIsTheSameWhateverStandsBetweenTheirLines) {
  constexpr unsigned kSeed = 11;
  std::mt19937 random(kSeed);
  const Catalogue catalogue = Catalogue::standard();
  for (const Entry& entry : catalogue.entries()) {
    if (entry.program.source.empty()) continue;
    EXPECT_EQ(bare_code(disturbed(entry.program.source, random)), entry.program.code)
        << entry.name << ", seed " << kSeed;
  }
}

}  // namespace
}  // namespace morton::test
