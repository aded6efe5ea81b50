// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/bare_code.hpp"
#include "source/instance.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

/// gemm.tile with a bias behind it; dst's coordinates lead to the tensor through `view`.
InstanceSpec tile_with_bias(const Catalogue& catalogue, const View& view) {
  InstanceSpec spec;
  spec.entry = catalogue.find_entry("gemm.tile");
  spec.tunables = standard_tunables(*spec.entry);
  spec.problem.family = families::gemm;
  spec.problem.extents = {{"M", 5}, {"N", 7}, {"K", 3}};
  spec.problem.epilogue.input_count = 2;
  spec.problem.epilogue.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
  const auto operand = [](const std::string& name, const Shape& shape, const View& seen) {
    return InstanceOperand{.name = name,
                           .arrangement = row_major_arrangement(DType::f32, shape),
                           .view = seen,
                           .access = InstanceOperand::Access::by_hand};
  };
  spec.operands = {operand("lhs", {5, 3}, View::identity({"M", "K"})),
                   operand("rhs", {3, 7}, View::identity({"K", "N"})),
                   operand("dst", {5, 7}, view)};
  spec.operands[2].direction = InstanceOperand::Direction::write;
  spec.sides = {operand("side1", {7},
                        View::mapped({"T0", "T1"}, {Expression::variable("t1")}, {Expression(7)}))};
  spec.sides[0].access = InstanceOperand::Access::generated;
  spec.local = {1, 1};
  return spec;
}

/// A kernel that writes dst by hand reads the bias where dst's view says: straight and swapped
/// products are two instances, though nothing else tells them apart.
TEST(Instance, DependsOnTheViewThatLeadsToTheSideOperands) {
  const Catalogue catalogue = Catalogue::standard();
  const auto name = [](const char* text) { return Expression::variable(text); };
  const View straight = View::identity({"M", "N"});
  const View swapped = View::mapped({"M", "N"}, {name("n"), name("m")}, {name("N"), name("M")});
  const InstanceSource first = generate(tile_with_bias(catalogue, straight));
  const InstanceSource second = generate(tile_with_bias(catalogue, swapped));
  EXPECT_THAT(first.text, HasSubstr("side1[(n)]"));
  EXPECT_THAT(second.text, HasSubstr("side1[(m)]"));
  EXPECT_NE(first.key, second.key);
  EXPECT_NE(first.function, second.function);
}

TEST(Instance, CountsInBytesWhereItIsAskedToAndTheyFit) {
  const Catalogue catalogue = Catalogue::standard();
  InstanceSpec spec = tile_with_bias(catalogue, View::identity({"M", "N"}));
  spec.has_byte_addresses = true;
  EXPECT_THAT(
      generate(spec).text,
      HasSubstr("((__global const float*)((__global const char*)side1 + (uint)((n)) * 4u))[0]"));
  spec.sides[0].arrangement = row_major_arrangement(DType::f32, {std::int64_t{1} << 30});
  EXPECT_THAT(generate(spec).text, HasSubstr("side1[(n)]")) << "4 GiB";
}

/// The kernel with a constant that names H of the structure, and a comment that names W.
Entry structured_entry(const Entry& base) {
  Entry entry = base;
  entry.program.source =
      "// W is a word of a comment.\n" + base.program.source + "\nconstant int kHeight = H;\n";
  entry.program.code = bare_code(entry.program.source);
  return entry;
}

TEST(Instance, CompilesInOnlyTheStructureThatItsTextNames) {
  const Catalogue catalogue = Catalogue::standard();
  InstanceSpec spec = tile_with_bias(catalogue, View::identity({"M", "N"}));
  const Entry entry = structured_entry(*spec.entry);
  spec.entry = &entry;
  spec.problem.structure = {{"H", 3}, {"W", 5}};
  const InstanceSource made = generate(spec);
  EXPECT_THAT(made.text, HasSubstr("#define H (3)\n"));
  EXPECT_THAT(made.text, HasSubstr("#undef H\n"));
  EXPECT_THAT(made.text, testing::Not(HasSubstr("#define W")));

  spec.problem.structure = {{"H", 3}, {"W", 7}};
  EXPECT_EQ(generate(spec).key, made.key);
  EXPECT_EQ(generate(spec).text, made.text);
  spec.problem.structure = {{"H", 4}, {"W", 5}};
  EXPECT_NE(generate(spec).key, made.key);
  EXPECT_NE(generate(spec).function, made.function);
}

/// The names of a text hold the beginning of its key, and nothing else tells of it.
TEST(Instance, IsNamedByItsCode) {
  const Catalogue catalogue = Catalogue::standard();
  const InstanceSource made = generate(tile_with_bias(catalogue, View::identity({"M", "N"})));
  EXPECT_THAT(made.function, testing::EndsWith("_" + made.key.substr(0, 12)));
  EXPECT_THAT(made.text, HasSubstr(" " + made.function + "\n"));
  EXPECT_THAT(made.text, testing::Not(HasSubstr("mark")));
}

/// gemm.tile whose dst is a tensor 5 x 1 x 7 with the last two dimensions joined, and behind it a
/// side of that tensor's shape, stored as `grouping` says and read at `coordinates`.
std::string side_index(const Catalogue& catalogue, const Grouping& grouping,
                       const std::vector<std::string>& coordinates) {
  const auto name = [](const char* text) { return Expression::variable(text); };
  const View joined = View::grouped({"M", "N"}, {{0}, {1, 2}}, {name("M"), name("OH"), name("OW")});
  InstanceSpec spec = tile_with_bias(catalogue, joined);
  const Shape shape{5, 1, 7};
  const auto rank = static_cast<int>(grouping.size());
  InstanceOperand& side = spec.sides[0];
  side.arrangement = make_arrangement(DType::f32, shape, grouping, Layout::row_major(rank),
                                      Shape(grouping.size(), 1), PaddingContents::undefined);
  side.view = View{};
  side.view.dimensions = {"T0", "T1", "T2"};
  for (const auto& text : coordinates) {
    side.view.coordinates.push_back(Expression::parse(text, "test"));
  }
  const std::string text = generate(spec).text;
  const std::size_t start = text.find(", side1[") + 8;
  return text.substr(start, text.find(']', start) - start);
}

TEST(Instance, ReadsASideInTheResultsOrderAtTheResultsIndex) {
  const Catalogue catalogue = Catalogue::standard();
  const std::vector<std::string> own{"t0", "t1", "t2"};
  EXPECT_EQ(side_index(catalogue, {{0}, {1, 2}}, own), "(m) * side1_pad1 + (n)");
  // In another order, or where one of its dimensions is spread, it costs divisions.
  EXPECT_THAT(side_index(catalogue, {{1, 2}, {0}}, own), HasSubstr("/"));
  EXPECT_THAT(side_index(catalogue, {{0}, {1, 2}}, {"t0", "0", "t2"}), HasSubstr("%"));
}

/// v + s1 by elementwise.ranges, on a matrix and a side of its shape whose rows are padded so.
InstanceSpec ranges_with_side(const Catalogue& catalogue, std::int64_t row_padding) {
  InstanceSpec spec;
  spec.entry = catalogue.find_entry("elementwise.ranges");
  spec.tunables = standard_tunables(*spec.entry);
  spec.problem.family = families::elementwise;
  spec.problem.extents = {{"D0", 5}, {"D1", 7}};
  spec.problem.epilogue.input_count = 2;
  spec.problem.epilogue.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
  const auto operand = [](const std::string& name, std::int64_t align) {
    return InstanceOperand{
        .name = name,
        .arrangement = make_arrangement(DType::f32, {5, 7}, {{0}, {1}}, Layout::row_major(2),
                                        {1, align}, PaddingContents::zero),
        .view = View::identity({"D0", "D1"})};
  };
  spec.operands = {operand("src0", 1), operand("dst", 1)};
  spec.operands[1].direction = InstanceOperand::Direction::write;
  spec.sides = {operand("side1", row_padding)};
  spec.local = {1, 1, 1};
  return spec;
}

/// Whether all operands have one order follows from padded extents, which are arguments: the two
/// are other instances.
TEST(Instance, DependsOnWhetherAllOperandsLieAlike) {
  const Catalogue catalogue = Catalogue::standard();
  const InstanceSource alike = generate(ranges_with_side(catalogue, 1));
  const InstanceSource padded = generate(ranges_with_side(catalogue, 8));
  EXPECT_THAT(alike.text, HasSubstr("#define ALIKE_dst 1"));
  EXPECT_THAT(padded.text, HasSubstr("#define ALIKE_dst 0"));
  EXPECT_NE(alike.key, padded.key);
}

/// max(v * s1, 0) by `entry`, of 1 x 40 x 5 x 7: dst in blocks of 16 channels, src0 as `source`
/// says, a number for each channel.
InstanceSpec scaled_channels(const Catalogue& catalogue, const std::string& source) {
  InstanceSpec spec;
  spec.entry = catalogue.find_entry("elementwise.ranges");
  spec.tunables = standard_tunables(*spec.entry);
  spec.problem.family = families::elementwise;
  spec.problem.extents = {{"D0", 1}, {"D1", 40}, {"D2", 5}, {"D3", 7}};
  spec.problem.epilogue.input_count = 2;
  spec.problem.epilogue.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
  const std::vector<std::string> names{"N", "C", "H", "W"};
  const auto operand = [&](const std::string& name, const std::string& layout) {
    return InstanceOperand{.name = name,
                           .arrangement = make_arrangement(
                               DType::f32, {1, 40, 5, 7}, {{0}, {1}, {2}, {3}},
                               Layout::parse(layout, names), {1, 1, 1, 1}, PaddingContents::zero),
                           .view = View::identity({"D0", "D1", "D2", "D3"})};
  };
  spec.operands = {operand("src0", source), operand("dst", "NCHW16c")};
  spec.operands[1].direction = InstanceOperand::Direction::write;
  InstanceOperand side{.name = "side1",
                       .arrangement = row_major_arrangement(DType::f32, {40, 1, 1}),
                       .view = View::identity({"t1", "t2", "t3"})};
  side.view.coordinates = {Expression::variable("t1"), Expression(0), Expression(0)};
  spec.sides = {side};
  spec.local = {1, 1, 1};
  return spec;
}

/// The definition of a macro in a text.
std::string definition_of(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("#define " + name);
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

/// Places along a line of dst are sums: no division is left of the blocks.
TEST(Instance, WalksTheLinesOfBlocksWithoutDivisions) {
  const Catalogue catalogue = Catalogue::standard();
  for (const std::string source : {"NCHW", "NCHW16c"}) {
    const InstanceSource made = generate(scaled_channels(catalogue, source));
    EXPECT_THAT(made.text, HasSubstr("#define NEST_dst 1")) << source;
    const std::string load = definition_of(made.text, "NEST_LOAD_src0(i)");
    ASSERT_NE(load, "");
    EXPECT_THAT(load, ::testing::Not(HasSubstr("%"))) << source;
    EXPECT_THAT(definition_of(made.text, "NEST_EPILOGUE(v, i)"), ::testing::Not(HasSubstr("/")))
        << source;
  }
}

/// v * s1 by elementwise.strides, of 8 x 4 x 5 x 7: src0 by channels, dst too if so, and a number
/// for each channel.
InstanceSpec channels_first(const Catalogue& catalogue, bool dst_too) {
  InstanceSpec spec = scaled_channels(catalogue, "NCHW");
  spec.entry = catalogue.find_entry("elementwise.strides");
  spec.tunables = {{"EACH", 2}, {"LOCAL", 32}};
  spec.problem.extents = {{"D0", 8}, {"D1", 4}, {"D2", 5}, {"D3", 7}};
  const std::vector<std::string> names{"M", "N"};
  const std::vector<std::string> pictures{"N", "C", "P"};
  spec.operands[0].arrangement =
      make_arrangement(DType::f32, {8, 4, 5, 7}, {{0}, {1}, {2, 3}}, Layout::parse("NCP", pictures),
                       {1, 1, 1}, PaddingContents::zero);
  spec.operands[1].arrangement =
      make_arrangement(DType::f32, {8, 4, 5, 7}, {{1}, {0, 2, 3}}, Layout::parse("R", names),
                       {1, 1}, PaddingContents::zero);
  if (dst_too) spec.operands[0].arrangement = spec.operands[1].arrangement;
  spec.sides[0].arrangement = row_major_arrangement(DType::f32, {4, 1, 1});
  return spec;
}

/// dst's rows hold n, h and w: h and w are one digit where src0 has them side by side, and there is
/// none where it has dst's rows.
TEST(Instance, WalksThroughJoinedDimensionsByDigits) {
  const Catalogue catalogue = Catalogue::standard();
  const InstanceSource across = generate(channels_first(catalogue, false));
  EXPECT_THAT(across.text, HasSubstr("#define WALK_dst 1"));
  EXPECT_THAT(definition_of(across.text, "WALK_LOAD_src0"), ::testing::Not(HasSubstr("/")));
  EXPECT_THAT(definition_of(across.text, "WALK_STEP"), HasSubstr("walk1_1 += step1_1"));
  EXPECT_THAT(definition_of(across.text, "WALK_STEP"),
              HasSubstr("walk_carry = walk1_0 >= (dst_dim2 * dst_dim3)"));
  const InstanceSource along = generate(channels_first(catalogue, true));
  EXPECT_THAT(definition_of(along.text, "WALK_STEP"), ::testing::Not(HasSubstr("walk1_0")));
}

/// The program that is kept for it serves the text with other comments too.
TEST(Instance, IsKnownByItsCodeWhateverItsComments) {
  const Catalogue catalogue = Catalogue::standard();
  const View view = View::identity({"M", "N"});
  InstanceSpec spec = tile_with_bias(catalogue, view);
  const InstanceSource made = generate(spec);
  Entry commented = *spec.entry;
  commented.program.source.insert(0, "// STORE4_dst and ALIKE_dst are words of a comment here.\n");
  commented.program.code = bare_code(commented.program.source);
  spec.entry = &commented;
  const InstanceSource other = generate(spec);
  EXPECT_EQ(other.key, made.key);
  EXPECT_EQ(other.function, made.function);
  EXPECT_NE(other.text, made.text);
  EXPECT_EQ(bare_code(other.text), bare_code(made.text));
}

TEST(Instance, TellsCompilersWhereItsTextComesFrom) {
  const Catalogue catalogue = Catalogue::standard();
  const InstanceSource made = generate(tile_with_bias(catalogue, View::identity({"M", "N"})));
  EXPECT_EQ(made.text.find("#line 1 \"gemm.tile, generated\"\n"), 0U);
  EXPECT_THAT(made.text, HasSubstr("\n#line 1 \"gemm/tile.cl\"\n// SPDX-License-Identifier"));
}

/// What STORE4_dst is in gemm.patch_panels where dst lies in this layout.
std::string quad_store(const Catalogue& catalogue, const char* layout, DType dtype) {
  InstanceSpec spec = tile_with_bias(catalogue, View::identity({"M", "N"}));
  spec.entry = catalogue.find_entry("gemm.patch_panels");
  spec.tunables = standard_tunables(*spec.entry);
  Arrangement& arrangement = spec.operands[2].arrangement;
  const std::vector<std::string> dimensions{"M", "N"};
  arrangement.layout = Layout::parse(layout, dimensions);
  arrangement.dtype = dtype;
  spec.operands[2].access = InstanceOperand::Access::generated;
  const std::string text = generate(spec).text;
  const std::string definition = "#define STORE4_dst(m, n, v) ";
  const std::size_t start = text.find(definition);
  if (start == std::string::npos) return "undefined";
  const std::size_t body = start + definition.size();
  return text.substr(body, text.find('\n', body) - body);
}

TEST(Instance, StoresFourNeighboursAtOnceWhereTheyLieTogether) {
  const Catalogue catalogue = Catalogue::standard();
  for (const char* layout : {"R", "R_3_4_R", "R_*_8_R"}) {
    EXPECT_THAT(quad_store(catalogue, layout, DType::f32), testing::StartsWith("vstore4((v), 0, "))
        << layout;
    EXPECT_THAT(quad_store(catalogue, layout, DType::f16),
                testing::StartsWith("vstore_half4_rte((v), 0, "))
        << layout;
  }
  // Columns that follow each other down, cells of two, and a type that is rounded by a function.
  for (const char* layout : {"C", "R_4_1_C", "R_4_2_R", "R_2_6_R"}) {
    EXPECT_THAT(quad_store(catalogue, layout, DType::f32),
                HasSubstr("STORE_dst(m, (n) + 3, morton_vector.s3)"))
        << layout;
  }
  EXPECT_THAT(quad_store(catalogue, "R", DType::bf16), HasSubstr("STORE_dst(m, (n) + 3, "));
}

/// gemm.patch_panels into a tensor of two images [2, M, OH, OW], whose dimensions lie in this
/// order.
std::string into_images(const Catalogue& catalogue, const std::vector<int>& order) {
  InstanceSpec spec = tile_with_bias(catalogue, View::identity({"M", "N"}));
  spec.entry = catalogue.find_entry("gemm.patch_panels");
  spec.tunables = standard_tunables(*spec.entry);
  InstanceOperand& dst = spec.operands[2];
  std::vector<Expression> extents;
  for (const char* name : {"NI", "M", "OH", "OW"}) extents.push_back(Expression::variable(name));
  dst.view = View::grouped({"M", "N"}, {{1}, {0, 2, 3}}, extents);
  Grouping lies;
  for (const int t : order) lies.push_back({t});
  dst.arrangement = make_arrangement(DType::f32, {2, 4, 3, 3}, lies, Layout::row_major(4),
                                     Shape(4, 1), PaddingContents::finite);
  dst.access = InstanceOperand::Access::generated;
  spec.problem.extents.insert({{"NI", 2}, {"OH", 3}, {"OW", 3}});
  spec.has_byte_addresses = true;
  return generate(spec).text;
}

TEST(Instance, AsksWhetherFourLieTogetherWhereADimensionIsJoinedInOrder) {
  const Catalogue catalogue = Catalogue::standard();
  const std::string text = into_images(catalogue, {0, 1, 2, 3});
  EXPECT_THAT(text, HasSubstr("#define TOGETHER4_dst(m, n) (("));
  EXPECT_THAT(text, HasSubstr("== 3)"));
  EXPECT_THAT(text, HasSubstr("#define STORE4_dst(m, n, v) (*(__global morton_float4*)("));
  // Columns of an image lie below each other: three behind may be another row.
  const std::string turned = into_images(catalogue, {0, 1, 3, 2});
  EXPECT_EQ(turned.find("#define TOGETHER4_dst"), std::string::npos);
  EXPECT_THAT(turned, HasSubstr("STORE_dst(m, (n) + 3, morton_vector.s3)"));
}

TEST(Instance, DefinesNoStoreOfFourThatTheTextDoesNotUse) {
  const Catalogue catalogue = Catalogue::standard();
  InstanceSpec spec = tile_with_bias(catalogue, View::identity({"M", "N"}));
  spec.entry = catalogue.find_entry("gemm.naive");
  spec.tunables = {};
  for (InstanceOperand& operand : spec.operands) {
    operand.access = InstanceOperand::Access::generated;
  }
  EXPECT_EQ(generate(spec).text.find("STORE4_dst"), std::string::npos);
}

}  // namespace
}  // namespace morton::test
