// SPDX-License-Identifier: Apache-2.0
//
// Operators on codes of 8 bits and fewer: shapes, what they are written out as, and bad inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "passes/passes.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Graph graph_of(const std::string& op, const std::string& line) {
  return make_graph(parse_case(op, "t | " + line, "test"), 1, DataKind::integers);
}

TensorType result_of(const std::string& op, const std::string& line) {
  const Graph graph = graph_of(op, line);
  const GraphTensor& tensor = graph.tensor(graph.outputs[0]);
  return {tensor.dtype, tensor.shape};
}

/// What is wrong with the node; empty where nothing is.
std::string fault_of(const std::string& op, const std::string& line) {
  try {
    (void)graph_of(op, line);
  } catch (const ModelError& error) {
    return error.what();
  } catch (const UnsupportedError& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "";
}

/// The operators that a node is written out as.
std::vector<std::string> written_as(const std::string& op, const std::string& line) {
  Graph graph = graph_of(op, line);
  passes::expand_composites(graph, {});
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

TEST(Quantised, ConvIntegerHasTheShapeOfAConvolution) {
  const TensorType image = result_of("ConvInteger", "2x3x9x8:u8 4x3x3x2:i8 | pads=[1,1,0,2]");
  EXPECT_EQ(image.shape, (Shape{2, 4, 8, 10}));
  EXPECT_EQ(image.dtype, DType::i32);
  EXPECT_EQ(result_of("ConvInteger", "2x3x17:u8 5x3x4:i8 | strides=[3]").shape, (Shape{2, 5, 5}));
  EXPECT_EQ(result_of("ConvInteger", "1x2x4x5x3:u8 3x2x2x3x2:i8").shape, (Shape{1, 3, 3, 3, 2}));
}

TEST(Quantised, ConvolutionsRoundNowhere) {
  const char* dense = "1x3x5x7:u8 4x3x3x3:i8 | pads=[1,1,1,1]";
  EXPECT_THAT(written_as("ConvInteger", dense), Contains("Unfold"));
  EXPECT_THAT(written_as("ConvInteger", dense), Not(Contains("Conv")));
  EXPECT_THAT(written_as("ConvInteger", "1x3x5x7:u8 4x3x1x1:i8"), Not(Contains("Unfold")));
  // 258 terms of 255 * 255 stay below 2^24; 259 do not.
  EXPECT_THAT(written_as("ConvInteger", "1x516x2x2:u8 2x258x1x1:i8 | group=2"), Contains("Conv"));
  EXPECT_THAT(written_as("ConvInteger", "1x518x2x2:u8 2x259x1x1:i8 | group=2"),
              Not(Contains("Conv")));
}

TEST(Quantised, ConvolutionsNameWhatDoesNotFit) {
  const auto fault = [](const std::string& line) { return fault_of("ConvInteger", line); };
  EXPECT_THAT(fault("1x3x5x7 4x3x3x3:u8"), HasSubstr("input 0 is of type f32; expected u8 or i8"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x2x3x3:u8"), HasSubstr("expected 3 channels of weights"));
  EXPECT_THAT(fault("3x5:u8 4x5:u8"), HasSubstr("as many dimensions"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x3:u8"), HasSubstr("as many dimensions"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x3x3:u8 | group=2"), HasSubstr("group is 2"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x3x3:u8 | kernel_shape=[2,2]"), HasSubstr("kernel_shape"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x9x9:u8"), HasSubstr("the window reaches over 9"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x3x3:u8 1:i8"),
              HasSubstr("the zero point (input 2) is of type i8"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x3x3:u8 3:u8"), HasSubstr("the zero point (input 2) is 3"));
  EXPECT_THAT(fault("1x3x5x7:u8 4x3x3x3:u8 1:u8 3:u8"), HasSubstr("expected one number or 4"));
  EXPECT_THAT(fault("1x33026x1x1:u8 1x33026x1x1:u8"), HasSubstr("may not fit 32 bits"));
}

TEST(Quantised, QLinearConvNamesWhatDoesNotFit) {
  const auto fault = [](const std::string& scales, const std::string& rest) {
    return fault_of("QLinearConv", "1x3x5x7:u8 " + scales + " 4x3x3x3:i8 " + rest);
  };
  const std::string rest = "=0.5 =0:i8 =0.5 =0:u8";
  EXPECT_EQ(fault("=0.5 =0:u8", rest), "");
  EXPECT_EQ(fault("=0.5 =0:u8", "4! 4:i8! =0.5 =0:u8 4:i32"), "");
  EXPECT_THAT(fault("=0.0 =0:u8", rest), HasSubstr("the scale (input 1) holds 0.0"));
  EXPECT_THAT(fault("=-1.0 =0:u8", rest), HasSubstr("expected a finite number above 0"));
  EXPECT_THAT(fault("2! =0:u8", rest), HasSubstr("the scale (input 1) is 2; expected one number"));
  EXPECT_THAT(fault("=0.5:f16 =0:u8", rest), HasSubstr("is of type f16; expected f32"));
  EXPECT_THAT(fault("=0.5 =0:u8", "3! =0:i8 =0.5 =0:u8"), HasSubstr("expected one number or 4"));
  EXPECT_THAT(fault("=0.5 =0:u8", "=0.5 =0:i8 =0.5 =0:i32"), HasSubstr("input 7 is of type i32"));
  EXPECT_THAT(fault("=0.5 =0:u8", rest + " 3:i32"), HasSubstr("the bias (input 8) is 3 of i32"));
  EXPECT_THAT(fault("=0.5 =0:u8", rest + " 4"), HasSubstr("expected 4 of i32"));
}

TEST(Quantised, OnnxRuntimesOperatorsNameWhatDoesNotFit) {
  const auto fault = [](const std::string& op, const std::string& line) {
    return fault_of("com.microsoft." + op, line);
  };
  EXPECT_THAT(fault("QLinearAdd", "3:u8 =0.5 =0:u8 3:i8 =0.5 =0:u8 =0.5"), HasSubstr("one type"));
  EXPECT_THAT(fault("QLinearMul", "3:u8 =0.5 =0:u8 4:u8 =0.5 =0:u8 =0.5"), HasSubstr("broadcast"));
  EXPECT_THAT(fault("QLinearAdd", "3:u8 =0.5 =0:u8 3:u8 =0.5 =0:u8"), HasSubstr("input 6"));
  EXPECT_THAT(fault("QLinearSoftmax", "3x4:u8 =0.5 =0:u8 =0.5 =0:u8"), HasSubstr("opset"));
  EXPECT_THAT(fault("QLinearConcat", "=0.5 =0:u8 3:u8 =0.5 | axis=0"), HasSubstr("three for each"));
  EXPECT_THAT(fault("QLinearConcat", "=0.5 =0:u8 3:u8 =0.5 =0:u8"), HasSubstr("axis is missing"));
  EXPECT_THAT(fault("QLinearGlobalAveragePool", "3x4:u8 =0.5 =0:u8 =0.5 =0:u8"),
              HasSubstr("expected N x C x W"));
  EXPECT_THAT(fault("QGemm", "3x4:u8 =0.5 =0:u8 4x5:u8 =0.5 =0:u8 4:i32"),
              HasSubstr("shapes 4 and 3x5 do not broadcast"));
  EXPECT_THAT(fault("QGemm", "3x4:u8 =0.5 =0:u8 4x5:u8 =0.5 =0:u8 - - =0:u8"),
              HasSubstr("zero point and no scale"));
  EXPECT_THAT(fault("MatMulIntegerToFloat", "3x4:u8 4x5:u8 =0.5 4!"),
              HasSubstr("expected one number or 5"));
  EXPECT_THAT(fault("DynamicQuantizeLSTM", "1x1x1 1x1x4:u8 1x1x4:u8 | hidden_size=1"),
              HasSubstr("input 8 is missing"));
  EXPECT_THAT(
      fault("DynamicQuantizeLSTM", "1x1x1 1x1x4:u8 1x1x4:u8 - - - - - 3! - 1! | hidden_size=1"),
      HasSubstr("input 8 is 3, expected 1 or 1x4"));
}

TEST(Quantised, MatMulNBitsNamesWhatDoesNotFit) {
  const auto fault = [](const std::string& line) {
    return fault_of("com.microsoft.MatMulNBits", line);
  };
  const std::string sizes = " | K=33 N=5 block_size=32";
  EXPECT_EQ(fault("3x33 5x2x16:u8 5x2" + sizes), "");
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x2 | K=33 N=5"), HasSubstr("block_size is missing"));
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x2 | K=33 N=5 block_size=24"), HasSubstr("a power of two"));
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x2" + sizes + " bits=3"), HasSubstr("unsupported: "));
  EXPECT_THAT(fault("3x34 5x2x16:u8 5x2" + sizes), HasSubstr("rows of K = 33"));
  EXPECT_THAT(fault("3x33 5x2x8:u8 5x2" + sizes), HasSubstr("expected 5x2x16"));
  EXPECT_THAT(fault("3x33 5x2x16:i8 5x2" + sizes), HasSubstr("expected u8"));
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x3" + sizes), HasSubstr("expected 5x2 or 10"));
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x2 5x2:u8" + sizes), HasSubstr("expected 5x1 or 5"));
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x2 - - 4" + sizes), HasSubstr("the bias"));
  EXPECT_THAT(fault("3x33 5x2x16:u8 5x2 - 7:i32" + sizes), HasSubstr("g_idx is 7 of i32"));
}

}  // namespace
}  // namespace morton::test
