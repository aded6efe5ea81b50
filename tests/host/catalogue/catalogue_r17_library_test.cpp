// SPDX-License-Identifier: Apache-2.0
//
// Kernel libraries of R17: what their keys become, and what is refused.
#include <gmock/gmock.h>

#include "catalogue/catalogue.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// R17's figure 8.2, as the restrictions of one kernel.
constexpr const char* kRestrictions = R"({
  "flop": 2, "arglist": "lh", "scale": {"rows": 1, "cols": 4},
  "a": {"representation": "R", "colAlign": 4, "rowAlign": 4},
  "b": {"representation": "C_4_4_C", "colAlign": 4, "rowAlign": 4},
  "r": {"representation": "C_4_4_C", "colAlign": 4, "rowAlign": 4}})";

std::string item(const std::string& codename, const std::string& restrictions,
                 const std::string& function = "f") {
  return R"({"codename": ")" + codename + R"(", "function": ")" + function +
         R"(", "source": "lib.cl", "restrictions": )" + restrictions + "}";
}

Catalogue catalogue_of(const std::string& items) {
  Catalogue catalogue;
  catalogue.add_text("{\"sources\": [" + items + "]}", "lib.json", [](const std::string& name) {
    if (name != "lib.cl") throw ModelError("there is no " + name);
    return std::string("kernel void f (uint l) {}\n");
  });
  return catalogue;
}

std::string complaint(const std::string& items) {
  return message_of<ModelError>([&] { (void)catalogue_of(items); });
}

/// `kRestrictions` with a part replaced.
std::string with(const std::string& part, const std::string& other) {
  std::string text = kRestrictions;
  return text.replace(text.find(part), part.size(), other);
}

TEST(R17Library, TheKeysBecomeAnEntry) {
  const Catalogue catalogue = catalogue_of(item("blockedRMCM", kRestrictions));
  const Entry* entry = catalogue.find_entry("blockedRMCM");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->family, "gemm");
  EXPECT_EQ(entry->padding.edges, Entry::Edges::pad);
  EXPECT_FALSE(entry->program.is_shared);
  EXPECT_FALSE(entry->carries_epilogue);
  EXPECT_THAT(entry->launch.arguments, ElementsAre("K_pad", "M_pad", "lhs", "rhs", "dst"));
  EXPECT_EQ(entry->operands.at("lhs").layout_text, "R");
  EXPECT_EQ(entry->operands.at("rhs").layout_text, "C_4_4_C");
  EXPECT_EQ(entry->operands.at("lhs").padding, PaddingContents::zero);
  const Environment tunables = standard_tunables(*entry);
  EXPECT_EQ(entry->padding.align.at("M").evaluate(tunables),
            4);  // rowAlign, and 4 work-items of a row
  EXPECT_EQ(entry->padding.align.at("N").evaluate(tunables), 64);  // 16 work-items of 4 columns
  EXPECT_EQ(entry->padding.align.at("K").evaluate(tunables), 4);
  const Environment extents{{"M_pad", 8}, {"N_pad", 64}, {"M", 5}, {"N", 33}, {"K", 3}};
  EXPECT_EQ(entry->launch.global.at(0).evaluate(extents), 8);
  EXPECT_EQ(entry->launch.global.at(1).evaluate(extents), 16);
  EXPECT_EQ(entry->launch.local.at(0).evaluate(tunables), 4);
  EXPECT_EQ(entry->launch.local.at(1).evaluate(tunables), 16);
  EXPECT_EQ(entry->cost.flop.evaluate(extents), 2 * 5 * 33 * 3);
  EXPECT_THAT(entry->program.source, HasSubstr("#define HON_DATA_TYPE float\n"));
  EXPECT_THAT(entry->program.source, HasSubstr("#define HON_DATA_TYPE_VECTOR float4\n"));
}

TEST(R17Library, ArgumentsStandInTheOrderOfTheList) {
  const auto arguments = [](const char* list) {
    const Catalogue catalogue =
        catalogue_of(item("k", with("\"lh\"", std::string("\"") + list + "\"")));
    return catalogue.entries().at(0).launch.arguments;
  };
  EXPECT_THAT(arguments("lwh"), ElementsAre("K_pad", "N_pad", "M_pad", "lhs", "rhs", "dst"));
  EXPECT_THAT(arguments("lw"), ElementsAre("K_pad", "N_pad", "lhs", "rhs", "dst"));
  EXPECT_THAT(arguments("lhw"), ElementsAre("K_pad", "M_pad", "N_pad", "lhs", "rhs", "dst"));
  EXPECT_THAT(arguments(""), ElementsAre("lhs", "rhs", "dst"));
}

TEST(R17Library, WorkGroupsCoverOddScalesExactly) {
  for (const std::string scale : {"1", "2", "3", "5", "6"}) {
    for (const std::string align : {"1", "3", "4", "10"}) {
      SCOPED_TRACE("scale " + scale + ", align " + align);
      std::string text = with("\"rows\": 1", "\"rows\": " + scale);
      const std::string from = "\"colAlign\": 4, \"rowAlign\": 4";
      text.replace(text.find(from), from.size(), "\"rowAlign\": " + align);
      const Catalogue catalogue = catalogue_of(item("k", text));
      const Entry& entry = catalogue.entries().at(0);
      for (const std::int64_t local : entry.tunables.at("LOCAL_M").values) {
        const std::int64_t step = entry.padding.align.at("M").evaluate({{"LOCAL_M", local}});
        EXPECT_EQ(step % (local * std::stoll(scale)), 0) << local;
        EXPECT_EQ(step % std::stoll(align), 0) << local;
      }
    }
  }
}

TEST(R17Library, KernelsWithoutRestrictionsAreLeftOut) {
  const Catalogue catalogue = catalogue_of(item("mat3", "{}") + "," + item("k", kRestrictions));
  EXPECT_THAT(catalogue.entries(), SizeIs(1));
  ASSERT_THAT(catalogue.left_out(), SizeIs(1));
  EXPECT_THAT(catalogue.left_out().at("mat3").why,
              HasSubstr("lib.json: sources[0]: 'mat3' states no restrictions"));
}

TEST(R17Library, AFamilySaysWhatUnstatedKernelsTake) {
  constexpr const char* kText =
      R"(kernel void mat (int l, int w, global float* a, global float* b, global float* c) {}
kernel void each (global float* mat) {}
kernel void column (int h, int w, global float* a, global float* b) {}
)";
  const auto library = [&] {
    Catalogue catalogue;
    catalogue.add_text("{\"sources\": [" + item("mat3", "{}", "mat") + "," +
                           item("sigmoid1", "{}", "each") + "," + item("add", "{}", "column") +
                           "]}",
                       "lib.json", [&](const std::string&) { return std::string(kText); });
    return catalogue;
  };
  Catalogue catalogue = library();
  EXPECT_THAT(catalogue.entries(), SizeIs(0));
  catalogue.take_by_convention({{"gemm", "mat3"}, {"sigmoid", "sigmoid1"}, {"bias", "add"}});
  ASSERT_THAT(catalogue.entries(), SizeIs(3));
  EXPECT_THAT(catalogue.left_out(), SizeIs(0));
  EXPECT_EQ(catalogue.find_entry("mat3")->family, "gemm");
  EXPECT_THAT(catalogue.find_entry("mat3")->launch.arguments,
              ElementsAre("K_pad", "N_pad", "lhs", "rhs", "dst"));
  EXPECT_EQ(catalogue.find_entry("sigmoid1")->operands.at("src").layout_text, "unbound");
  EXPECT_EQ(catalogue.find_entry("add")->operands.at("src").layout_text, "R");
  // A family without a convention leaves the kernel out; another's arguments are an error.
  Catalogue other = library();
  other.take_by_convention({{"softmax", "mat3"}});
  EXPECT_THAT(other.left_out(), SizeIs(3));
  EXPECT_THAT(message_of<ModelError>([&] {
                other.take_by_convention({{"relu", "mat3"}});
              }),
              HasSubstr("but R17's kernel of relu takes (a)"));
}

TEST(R17Library, OperationsHaveKeysOfTheirOwn) {
  const auto refused = [](const std::string& restrictions) {
    return complaint(item("k", restrictions));
  };
  EXPECT_THAT(refused(R"({"operation": "softmax"})"),
              HasSubstr("operation: expected one of bias, gemm, relu, sigmoid, got 'softmax'"));
  EXPECT_THAT(refused(R"({"operation": "relu", "arglist": "l", "a": {"representation": "R"}})"),
              HasSubstr("expected each of w and h at most once"));
  EXPECT_THAT(refused(R"({"operation": "relu", "arglist": "w", "scale": {"elements": 4}})"),
              HasSubstr("expected no sizes"));
  EXPECT_THAT(refused(R"({"operation": "bias", "arglist": "hw"})"), HasSubstr("'a' is missing"));
}

TEST(R17Library, SaysWhatIsWrong) {
  EXPECT_THAT(complaint("3"), HasSubstr("lib.json: sources[0]: expected an object"));
  EXPECT_THAT(complaint(item("a b", kRestrictions)), HasSubstr("codename: expected letters"));
  EXPECT_THAT(complaint(item("k", kRestrictions) + "," + item("k", "{}")),
              HasSubstr("sources[1].codename: 'k' stands twice"));
  EXPECT_THAT(complaint(item("k", kRestrictions, "g")), HasSubstr("lib.cl has no function 'g'"));
  EXPECT_THAT(
      complaint(R"({"codename": "k", "function": "f", "source": "x.cl", "restrictions": {}})"),
      HasSubstr("source: there is no x.cl"));
  EXPECT_THAT(complaint(R"({"codename": "k", "function": "f", "source": "lib.cl"})"),
              HasSubstr("'restrictions' is missing"));
  EXPECT_THAT(complaint(item("k", with("\"lh\"", "\"lx\""))),
              HasSubstr("expected each of l, w and h"));
  EXPECT_THAT(complaint(item("k", with("\"lh\"", "\"ll\""))),
              HasSubstr("expected each of l, w and h"));
  EXPECT_THAT(complaint(item("k", with("\"R\"", "\"Q\""))), HasSubstr("a.representation"));
  EXPECT_THAT(complaint(item("k", with("\"R\"", "\"any\""))), HasSubstr("a.representation"));
  EXPECT_THAT(complaint(item("k", with("\"cols\": 4", "\"cols\": 0"))),
              HasSubstr("scale.cols: expected 1 to 65536, got 0"));
  EXPECT_THAT(complaint(item("k", with("\"flop\": 2", "\"flops\": 2"))),
              HasSubstr("unknown key 'flops'"));
  EXPECT_THAT(complaint(item("k", R"({"flop": 2})")), HasSubstr("'arglist' is missing"));
  EXPECT_THAT(complaint(item("k", R"({"arglist": "l"})")), HasSubstr("'a' is missing"));
}

TEST(R17Library, NamesThatAreTakenAreRefused) {
  Catalogue catalogue = catalogue_of(item("k", kRestrictions));
  const std::string again = "{\"sources\": [" + item("k", kRestrictions) + "]}";
  EXPECT_THAT(message_of<ModelError>([&] {
                catalogue.add_text(again, "other.json",
                                   [](const std::string&) { return std::string("void f() {}"); });
              }),
              HasSubstr("other.json: the codename 'k' is taken"));
}

TEST(R17Library, SourcesStayInTheFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "inner");
  write_bytes(folder / "lib.cl", "kernel void f() {}");
  std::string text = "{\"sources\": [" + item("k", kRestrictions) + "]}";
  text.replace(text.find("lib.cl"), 6, "../lib.cl");
  const auto path = write_bytes(folder / "inner/lib.json", text);
  Catalogue catalogue;
  EXPECT_THAT(message_of<ModelError>([&] { catalogue.add_file(path); }),
              HasSubstr("leads out of the folder"));
}

TEST(R17Library, TheExampleIsRead) {
  Catalogue catalogue = Catalogue::standard();
  catalogue.add_file(MORTON_SOURCE_DIR "/examples/r17/library.json");
  EXPECT_NE(catalogue.find_entry("product_rm"), nullptr);
  EXPECT_NE(catalogue.find_entry("product_morton"), nullptr);
  EXPECT_NE(catalogue.find_entry("add_column"), nullptr);
  EXPECT_THAT(catalogue.left_out(), SizeIs(2));
}

}  // namespace
}  // namespace morton::test
