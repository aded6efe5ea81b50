// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::DataKind;
using testing::HasSubstr;

/// Shape of the result of `op` on a line "inputs | attributes" of the case format.
Shape shape_of(const std::string& op, const std::string& line) {
  const auto parsed = test::parse_case(op, "t | " + line, "test");
  const Graph graph = test::make_graph(parsed, 1, DataKind::integers);
  return graph.tensor(graph.outputs[0]).shape;
}

/// "model: <message>" or "unsupported: <message>"; empty when there is no error.
std::string error_of(const std::string& op, const std::string& line) {
  try {
    (void)shape_of(op, line);
  } catch (const ModelError& error) {
    return std::string("model: ") + error.what();
  } catch (const UnsupportedError& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "";
}

TEST(Infer, Gemm) {
  EXPECT_EQ(shape_of("Gemm", "3x17 17x63"), (Shape{3, 63}));
  EXPECT_EQ(shape_of("Gemm", "17x3 63x17 1x63 | transA=1 transB=1"), (Shape{3, 63}));
  EXPECT_THAT(error_of("Gemm", "3x17 63x17"), HasSubstr("model: Gemm 'Gemm_0': A 3x17"));
  EXPECT_THAT(error_of("Gemm", "3x17 17x63 3"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Gemm", "3x1 1x1 3x5"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Gemm", "3x17x1 17x63"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Gemm", "3x17"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Gemm", "3x17 -"), HasSubstr("input 1 is missing"));
  EXPECT_THAT(error_of("Gemm", "3x17 17x3 | transA=2"), HasSubstr("expected 0 or 1"));
  EXPECT_THAT(error_of("Gemm", "3x17 17x3 | transA=1.0"), HasSubstr("should be an integer"));
  EXPECT_THAT(error_of("Gemm", "3x17 17x3 | broadcast=1"), HasSubstr("unsupported: "));
  EXPECT_THAT(error_of("Gemm", "3x17 17x3 | | | opset=6"), HasSubstr("opset 7"));
}

TEST(Infer, MatMul) {
  EXPECT_EQ(shape_of("MatMul", "2x3x17 17x5"), (Shape{2, 3, 5}));
  EXPECT_EQ(shape_of("MatMul", "2x3x17 2x17x5"), (Shape{2, 3, 5}));
  EXPECT_EQ(shape_of("MatMul", "4x1x3x17 2x17x5"), (Shape{4, 2, 3, 5}));
  EXPECT_THAT(error_of("MatMul", "2x3x17 3x17x5"), HasSubstr("model: "));
  EXPECT_EQ(shape_of("MatMul", "17 17x5"), (Shape{5}));
  EXPECT_EQ(shape_of("MatMul", "2x3x17 17"), (Shape{2, 3}));
  EXPECT_EQ(shape_of("MatMul", "17 17"), Shape{});
  EXPECT_THAT(error_of("MatMul", "3x17 16x5"), HasSubstr("model: "));
  EXPECT_THAT(error_of("MatMul", "scalar 17x5"), HasSubstr("model: "));
}

TEST(Infer, MatMulInteger) {
  EXPECT_EQ(shape_of("MatMulInteger", "2x3x17:u8 17x5:i8"), (Shape{2, 3, 5}));
  EXPECT_EQ(shape_of("MatMulInteger", "2x3x17:u8 4x1x17x5:i8 2x3x1:u8"), (Shape{4, 2, 3, 5}));
  EXPECT_EQ(shape_of("MatMulInteger", "17:u8 17:u8 1:u8"), Shape{});
  EXPECT_THAT(error_of("MatMulInteger", "3x17 17x5:u8"), HasSubstr("input 0 is f32"));
  EXPECT_THAT(error_of("MatMulInteger", "3x17:u8 17x5:u8 1:i8"), HasSubstr("zero point is i8"));
  EXPECT_THAT(error_of("MatMulInteger", "3x17:u8 17x5:u8 5:u8"),
              HasSubstr("input 2 is 5; expected one element, 3 or 3x1"));
  EXPECT_THAT(error_of("MatMulInteger", "3x17:u8 17x5:u8 - 5x1:u8"),
              HasSubstr("input 3 is 5x1; expected one element, 5 or 1x5"));
}

/// 255 * 255 * 33,025 is the largest multiple that 31 bits hold, 255 * 128 * 65,793, 128 * 128 *
/// 131,071.
TEST(Infer, IntegerSumsMustFit32Bits) {
  EXPECT_EQ(error_of("MatMulInteger", "1x33025:u8 33025x1:u8"), "");
  EXPECT_THAT(error_of("MatMulInteger", "1x33026:u8 33026x1:u8"),
              HasSubstr("unsupported: MatMulInteger 'MatMulInteger_0': A is 1x33026, B is "
                        "33026x1: sums of more than 33025 products of u8 and u8 may not fit"));
  EXPECT_EQ(error_of("MatMulInteger", "1x65793:u8 65793x1:i8"), "");
  EXPECT_THAT(error_of("MatMulInteger", "1x65794:u8 65794x1:i8"), HasSubstr("65793"));
  EXPECT_EQ(error_of("MatMulInteger", "1x131071:i8 131071x1:i8"), "");
  EXPECT_THAT(error_of("MatMulInteger", "1x131072:i8 131072x1:i8"), HasSubstr("131071"));
  EXPECT_THAT(error_of("MatMulInteger", "1x33026:i8 33026x1:i8 1:i8 1:i8"), HasSubstr("33025"));
}

TEST(Infer, Conv) {
  EXPECT_EQ(shape_of("Conv", "1x3x32x32 6x3x5x5"), (Shape{1, 6, 28, 28}));
  EXPECT_EQ(shape_of("Conv", "2x4x9x8 6x2x3x3 6 | group=2 strides=[2,3] pads=[1,0,2,1]"),
            (Shape{2, 6, 5, 3}));
  EXPECT_EQ(shape_of("Conv", "1x1x7x6 1x1x3x3 | dilations=[3,2]"), (Shape{1, 1, 1, 2}));
  EXPECT_EQ(shape_of("Conv", "1x1x7x6 1x1x3x3 | auto_pad=SAME_UPPER strides=[2,2]"),
            (Shape{1, 1, 4, 3}));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x2x3x3"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | group=2"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | group=0"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 5"), HasSubstr("the bias is 5, expected 6"));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | kernel_shape=[3,2]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x2x9 6x3x3x3"), HasSubstr("reaches over 3 rows"));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | strides=[0,1]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | pads=[-1,0,0,0]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | pads=[1,1]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | strides=[9223372036854775807,1]"),
              HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | auto_pad=SAME"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Conv", "1x3x9x9 6x3x3x3 | auto_pad=VALID pads=[1,1,1,1]"),
              HasSubstr("both pads and auto_pad"));
  EXPECT_EQ(shape_of("Conv", "1x3x9 6x3x3 | pads=[1,0]"), (Shape{1, 6, 8}));
  EXPECT_THAT(error_of("Conv", "1x3x9 6x3x3 | pads=[1,0,0,0]"), HasSubstr("model: "));
  EXPECT_EQ(shape_of("Conv", "1x3x9x9x9 6x3x3x3x3"), (Shape{1, 6, 7, 7, 7}));
  EXPECT_THAT(error_of("Conv", "1x3x0x9 6x3x1x1"), HasSubstr("model: "));
}

TEST(Infer, Pools) {
  EXPECT_EQ(shape_of("MaxPool", "1x3x17x63 | kernel_shape=[2,2] strides=[2,2]"),
            (Shape{1, 3, 8, 31}));
  EXPECT_EQ(shape_of("MaxPool", "1x3x17x63 | kernel_shape=[2,2] strides=[2,2] ceil_mode=1"),
            (Shape{1, 3, 9, 32}));
  // The last window would start in the padding: it does not exist.
  EXPECT_EQ(shape_of("AveragePool",
                     "1x1x4x4 | kernel_shape=[2,2] strides=[3,3] pads=[0,0,1,1] ceil_mode=1"),
            (Shape{1, 1, 2, 2}));
  EXPECT_EQ(shape_of("AveragePool",
                     "1x1x3x3 | kernel_shape=[2,2] strides=[3,3] pads=[0,0,1,1] ceil_mode=1"),
            (Shape{1, 1, 1, 1}));
  EXPECT_THAT(error_of("MaxPool", "1x1x4x4"), HasSubstr("kernel_shape"));
  EXPECT_THAT(error_of("MaxPool", "1x1x4x4 | kernel_shape=[2]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("MaxPool", "1x1x4x4 | kernel_shape=[2,2] pads=[2,0,0,0]"),
              HasSubstr("must be smaller than the window"));
  EXPECT_THAT(error_of("MaxPool", "1x1x2x9 | kernel_shape=[2,2] dilations=[4,1] pads=[3,0,3,0]"),
              HasSubstr("unsupported: "));
  EXPECT_EQ(shape_of("MaxPool", "1x4x4 | kernel_shape=[2]"), (Shape{1, 4, 3}));
  EXPECT_EQ(shape_of("MaxPool", "1x4x4x4x4 | kernel_shape=[2,2,2]"), (Shape{1, 4, 3, 3, 3}));
}

TEST(Infer, Elementwise) {
  EXPECT_EQ(shape_of("Add", "3x1x5 1x7x1"), (Shape{3, 7, 5}));
  EXPECT_EQ(shape_of("Relu", "scalar"), Shape{});
  EXPECT_THAT(error_of("Add", "3x2 3"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Add", "3 [1,2,3]"), HasSubstr("types f32 and i64"));
}

TEST(Infer, Softmax) {
  EXPECT_EQ(shape_of("Softmax", "3x17 | axis=-2"), (Shape{3, 17}));
  EXPECT_THAT(error_of("Softmax", "3x17 | axis=2"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Softmax", "3x17 | axis=-3"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Softmax", "scalar"), HasSubstr("model: "));
}

TEST(Infer, RenamingOperators) {
  EXPECT_EQ(shape_of("Flatten", "3x5x7"), (Shape{3, 35}));
  EXPECT_EQ(shape_of("Flatten", "3x5x7 | axis=0"), (Shape{1, 105}));
  EXPECT_EQ(shape_of("Flatten", "3x5x7 | axis=-1"), (Shape{15, 7}));
  EXPECT_THAT(error_of("Flatten", "3x5 | axis=3"), HasSubstr("model: "));
  EXPECT_EQ(shape_of("Reshape", "3x5x7 [0,-1]"), (Shape{3, 35}));
  EXPECT_EQ(shape_of("Reshape", "1 []"), Shape{});
  EXPECT_EQ(shape_of("Reshape", "0x3 [0,5] | allowzero=1"), (Shape{0, 5}));
  EXPECT_THAT(error_of("Reshape", "3x5 [4,-1]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Reshape", "3x5 [-1,-1]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Reshape", "3x5 [-2,5]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Reshape", "3x5 [3,5,0]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Reshape", "3x5 [16]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Reshape", "3x5 [4611686018427387904,4]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Reshape", "3x5 [1,1,1,1,1,1,1,1,15]"), HasSubstr("unsupported: "));
  EXPECT_THROW((void)error_of("Reshape", "3x5 2"), UsageError);
  EXPECT_THAT(error_of("Reshape", "3x5 2!"), HasSubstr("must be a list of i64"));
  EXPECT_EQ(shape_of("Dropout", "3x5 scalar! | ratio=0.5"), (Shape{3, 5}));
}

TEST(Infer, MovingOperators) {
  EXPECT_EQ(shape_of("Transpose", "3x5x7"), (Shape{7, 5, 3}));
  EXPECT_THAT(error_of("Transpose", "3x5 | perm=[0,0]"), HasSubstr("stands twice"));
  EXPECT_EQ(shape_of("Slice", "3x17 [-1] [-9223372036854775808] [1] [-5]"), (Shape{3, 4}));
  EXPECT_EQ(shape_of("Slice", "3x17 [20] [100] [1]"), (Shape{3, 0}));
  EXPECT_EQ(shape_of("Slice", "17 [0] [17] [0] [9223372036854775807]"), Shape{1});
  EXPECT_THAT(error_of("Slice", "3x17 [0] [1] [1] [0]"), HasSubstr("step is 0"));
  EXPECT_EQ(shape_of("Concat", "3x5 3x7 | axis=-1"), (Shape{3, 12}));
  EXPECT_THAT(error_of("Concat", "3x5 4x7 | axis=1"), HasSubstr("input 1 is f32 4x7"));
  EXPECT_EQ(shape_of("Split", "17x3 | num_outputs=3 | | opset=18"), (Shape{6, 3}));
  EXPECT_THAT(error_of("Split", "17x3 [5,5]"), HasSubstr("17"));
  EXPECT_EQ(shape_of("Pad", "3x5 [-1,2,0,-3]"), (Shape{2, 4}));
  EXPECT_THAT(error_of("Pad", "3x5 [3,0,0,0] | mode=reflect"), HasSubstr("more than there is"));
  EXPECT_EQ(shape_of("Expand", "3x1 [2,1,5]"), (Shape{2, 3, 5}));
  EXPECT_EQ(shape_of("Tile", "3x5 [2,0]"), (Shape{6, 0}));
  EXPECT_THAT(error_of("Tile", "3x5 [4611686018427387904,2]"), HasSubstr("64 bits"));
  EXPECT_EQ(shape_of("Gather", "3x5x7 2x4:i64 | axis=1"), (Shape{3, 2, 4, 7}));
  EXPECT_THAT(error_of("Gather", "3x5 2"), HasSubstr("expected i64 or i32"));
  EXPECT_EQ(shape_of("GatherND", "3x5x7 4x2:i64"), (Shape{4, 7}));
  EXPECT_THAT(error_of("GatherND", "3x5 4x3:i64"), HasSubstr("do not fit"));
  EXPECT_EQ(shape_of("DepthToSpace", "1x12x3x5 | blocksize=2"), (Shape{1, 3, 6, 10}));
  EXPECT_THAT(error_of("SpaceToDepth", "1x1x3x5 | blocksize=2"), HasSubstr("do not divide"));
}

TEST(Infer, PutsItsErrorsDownToTheNode) {
  const auto blamed = [](const std::string& op, const std::string& line) -> std::string {
    try {
      (void)shape_of(op, line);
    } catch (const Error& error) {
      return error.node();
    }
    return "nobody";
  };
  EXPECT_EQ(blamed("Gemm", "3x17 63x17"), "Gemm_0") << "its shapes";
  EXPECT_EQ(blamed("Gemm", "3x17 17x3 | broadcast=1"), "Gemm_0") << "its attribute";
  EXPECT_EQ(blamed("Add", "3x17 4x17"), "Add_0") << "its broadcast";
  EXPECT_EQ(blamed("Gemn", "3x17 17x3"), "Gemn_0") << "its operator";
}

TEST(Infer, NamesAnUnknownOperator) {
  EXPECT_THAT(error_of("Frobnicate", "3x5"), HasSubstr("unsupported: "));
  EXPECT_THAT(error_of("Frobnicate", "3x5"), HasSubstr("'Frobnicate' is not supported"));
  EXPECT_EQ(find_operator("gemm"), nullptr);
}

TEST(Infer, ConvTranspose) {
  EXPECT_EQ(shape_of("ConvTranspose", "1x3x5x7 3x4x2x2 | strides=[2,2]"), (Shape{1, 4, 10, 14}));
  EXPECT_EQ(shape_of("ConvTranspose", "1x6x5x7 6x2x3x3 | group=3 pads=[1,0,1,0]"),
            (Shape{1, 6, 5, 9}));
  EXPECT_EQ(shape_of("ConvTranspose", "1x2x3x3 2x3x3x3 | strides=[3,2] output_shape=[10,8]"),
            (Shape{1, 3, 10, 8}));
  EXPECT_EQ(shape_of("ConvTranspose", "1x2x3x4 2x3x3x3 | strides=[2,3] auto_pad=SAME_LOWER"),
            (Shape{1, 3, 6, 12}));
  EXPECT_THAT(error_of("ConvTranspose", "1x3x5x7 4x4x2x2"), HasSubstr("model: "));
  EXPECT_THAT(error_of("ConvTranspose", "1x3x1x1 3x4x1x1 | pads=[1,0,0,0]"), HasSubstr("model: "));
}

TEST(Infer, Resize) {
  EXPECT_EQ(shape_of("Resize", "1x3x5x7 - - [1,3,10,9] | mode=linear"), (Shape{1, 3, 10, 9}));
  EXPECT_THAT(error_of("Resize", "1x3x5x7 - - [1,3,10]"), HasSubstr("model: "));
  EXPECT_THAT(error_of("Resize", "1x3x5x7"), HasSubstr("either scales or sizes"));
  EXPECT_EQ(shape_of("Resize", "1x3x5x7 - - [2,3,5,7] | mode=linear"), (Shape{2, 3, 5, 7}));
  EXPECT_THAT(error_of("Resize", "1x3x5x7 - - [1,3,0,7]"), HasSubstr("model: "));
}

TEST(Infer, RefusesSecondOutputs) {
  Graph graph =
      test::make_graph(test::parse_case("AveragePool", "t | 1x1x4x4 | kernel_shape=[2,2]", "test"),
                       1, DataKind::integers);
  graph.nodes[0].outputs.push_back(graph.add_tensor({.name = "second"}));
  EXPECT_THROW((void)infer(graph, graph.nodes[0]), UnsupportedError);
}

TEST(Infer, RefusesAnEpilogueThatWouldEnlarge) {
  Graph graph = test::make_graph(test::parse_case("Add", "t | 1x5 5! | | Add(3x5)", "test"), 1,
                                 DataKind::integers);
  Node node = graph.nodes[0];
  node.epilogue.input_count = 2;
  node.epilogue.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
  node.inputs.push_back(graph.nodes[1].inputs[1]);
  EXPECT_THROW((void)infer(graph, node), ModelError);
}

TEST(Operators, AreCompletelyDeclared) {
  for (const Operator* op : operators()) {
    SCOPED_TRACE(std::string(op->name));
    EXPECT_EQ(find_operator(op->name), op);
    EXPECT_LE(op->inputs.least, op->inputs.most);
    if (op->host.is_control) continue;
    const auto one_if = [](bool has) { return has ? 1 : 0; };
    const int problems = one_if(op->lower != nullptr) + one_if(op->parts != nullptr);
    // What is composed of others may be computed as it is for some nodes (Conv of images).
    if (op->expand != nullptr && problems == 0 && !op->host.alias) {
      EXPECT_TRUE(op->chain == nullptr && op->host.values == nullptr);
      continue;
    }
    EXPECT_EQ(problems + one_if(op->chain != nullptr) + one_if(op->host.alias) +
                  one_if(op->host.values != nullptr && !op->host.alias),
              1)
        << "elementwise, renaming, computed at planning, or with problems of its own";
    EXPECT_TRUE(op->infer != nullptr || op->chain != nullptr);
    EXPECT_EQ(one_if(op->host.reference != nullptr) + one_if(op->host.references != nullptr) +
                  one_if(op->host.origins != nullptr),
              problems);
    EXPECT_FALSE(op->host.alias && op->takes_epilogue);
  }
}

TEST(Operators, LowerRefusesOtherTypes) {
  Graph graph = test::make_graph(test::parse_case("Relu", "t | 3", "test"), 1, DataKind::integers);
  graph.tensor(TensorId(0)).dtype = DType::boolean;
  try {
    (void)lower(graph, graph.nodes[0]);
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Relu 'Relu_0'"));
    EXPECT_THAT(error.what(), HasSubstr("bool"));
  }
}

}  // namespace
}  // namespace morton::test
