// SPDX-License-Identifier: Apache-2.0
//
// Lists and optional values as inputs and outputs of a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "morton/value_form.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/list_inputs.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ValueForm kList{.is_list = true};
constexpr ValueForm kListOfAny{.is_list = true, .any_shape = true};
constexpr ValueForm kOptional{.is_optional = true};
constexpr ValueForm kOptionalList{.is_list = true, .is_optional = true};

/// y = op(x), where x has this form and its tensors these extents; -1 is open.
Graph graph_of(const std::string& op, const ValueForm& form, const Shape& shape = {}) {
  Graph graph;
  graph.opset = 18;
  GraphTensor x{.name = "x", .kind = GraphTensor::Kind::input, .form = form};
  for (const std::int64_t extent : shape) {
    x.declared.push_back(extent < 0 ? Dimension{0, "N"} : Dimension{extent, ""});
  }
  graph.inputs = {graph.add_tensor(std::move(x))};
  graph.outputs = {graph.add_tensor({.name = "y"})};
  Node node{.op = op, .name = op, .inputs = graph.inputs, .outputs = graph.outputs};
  graph.nodes.push_back(std::move(node));
  return graph;
}

Graph inferred(Graph graph, const PassOptions& options) {
  bind_shapes(graph, options);
  infer_shapes(graph, options);
  verify(graph, "inferred");
  return graph;
}

/// "x[0] 2x3" of each.
std::vector<std::string> ports(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> texts;
  for (const TensorId id : ids) {
    texts.push_back(graph.tensor(id).name + " " + to_string(graph.tensor(id).shape));
  }
  return texts;
}

template <typename Expected>
std::string complaint(Graph graph, const PassOptions& options) {
  return thrown<Expected>([&] { (void)inferred(std::move(graph), options); }).what();
}

TEST(ListInputs, AListIsAsManyInputsAsShapesAreGiven) {
  const PassOptions options{.shapes = {{"x[0]", {2}}, {"x[1]", {3}}}};
  for (const auto& [form, shape] : {std::pair(kList, Shape{-1}), std::pair(kListOfAny, Shape{})}) {
    const Graph graph = inferred(graph_of("Identity", form, shape), options);
    EXPECT_THAT(ports(graph, graph.inputs), ElementsAre("x[0] 2", "x[1] 3"));
    EXPECT_THAT(ports(graph, graph.outputs), ElementsAre("y[0] 2", "y[1] 3"));
  }
}

TEST(ListInputs, ALengthAloneIsEnoughWhereTheModelFixesTheShape) {
  const Graph graph = inferred(graph_of("Identity", kList, {5}), {.shapes = {{"x", {2}}}});
  EXPECT_THAT(ports(graph, graph.inputs), ElementsAre("x[0] 5", "x[1] 5"));
}

TEST(ListInputs, AnEmptyListGivesNoOutput) {
  const Graph graph = inferred(graph_of("Identity", kList, {-1}), {.shapes = {{"x", {0}}}});
  EXPECT_THAT(graph.inputs, IsEmpty());
  EXPECT_THAT(graph.outputs, IsEmpty());
}

TEST(ListInputs, AValueSaysAShapeToo) {
  const PassOptions options{.values = {{"x[0]", Tensor::allocate(DType::f32, {4})}}};
  const Graph graph = inferred(graph_of("SequenceLength", kList, {-1}), options);
  EXPECT_THAT(ports(graph, graph.inputs), ElementsAre("x[0] 4"));
}

TEST(ListInputs, AnOptionalValueIsThereWhereItIsNamed) {
  const Graph given = inferred(graph_of("Identity", kOptional, {-1}), {.shapes = {{"x", {7}}}});
  EXPECT_THAT(ports(given, given.inputs), ElementsAre("x 7"));
  EXPECT_THAT(ports(given, given.outputs), ElementsAre("y 7"));
  const Graph none = inferred(graph_of("Identity", kOptional, {-1}), {});
  EXPECT_THAT(none.inputs, IsEmpty());
  EXPECT_THAT(none.outputs, IsEmpty());
}

TEST(ListInputs, AnOptionalListThatIsNotThereIsNotAnEmptyOne) {
  const auto has_element = [](const PassOptions& options) {
    const Graph graph = inferred(graph_of("OptionalHasElement", kOptionalList, {5}), options);
    return graph.tensor(graph.nodes.back().inputs[0]).data.at(0);
  };
  EXPECT_EQ(has_element({}), 0.0);
  EXPECT_EQ(has_element({.shapes = {{"x", {0}}}}), 1.0);
}

TEST(ListInputs, WhatAListHoldsMustBeSaid) {
  const Graph list = graph_of("Identity", kList, {-1});
  EXPECT_THAT(complaint<UsageError>(list, {}), HasSubstr("'x' is a list of tensors"));
  EXPECT_THAT(complaint<UsageError>(list, {.shapes = {{"x[1]", {2}}}}),
              HasSubstr("element 1 is given, and element 0 is not"));
  EXPECT_THAT(complaint<UsageError>(list, {.shapes = {{"x", {2}}, {"x[0]", {2}}}}),
              HasSubstr("'x[1]'"));
  EXPECT_THAT(complaint<UsageError>(list, {.shapes = {{"x", {1}}, {"x[1]", {2}}}}),
              HasSubstr("has no element 1"));
  EXPECT_THAT(complaint<UsageError>(list, {.shapes = {{"x", {1, 2}}}}),
              HasSubstr("expected one number"));
  EXPECT_THAT(complaint<UsageError>(list, {.shapes = {{"x[0]", {2, 2}}}}),
              HasSubstr("declares 1 dimensions"));
  EXPECT_THAT(complaint<UsageError>(list, {.shapes = {{"x[01]", {2}}}}),
              HasSubstr("is a list of tensors"));
}

TEST(ListInputs, AListThatIsTooLongIsRefusedAtOnce) {
  const Graph list = graph_of("Identity", kList, {5});
  for (const char* name : {"x[1000000000]", "x[10000]"}) {
    EXPECT_THAT(complaint<UnsupportedError>(list, {.shapes = {{name, {5}}}}),
                HasSubstr("at most 10000"));
  }
  EXPECT_THAT(complaint<UnsupportedError>(list, {.shapes = {{"x", {1000000000}}}}),
              HasSubstr("at most 10000"));
}

TEST(ListInputs, AnotherTensorOfAnElementsNameIsNamed) {
  Graph graph = graph_of("Identity", kList, {5});
  GraphTensor other{.name = "x[3]", .kind = GraphTensor::Kind::input};
  graph.inputs.push_back(graph.add_tensor(std::move(other)));
  EXPECT_THAT(complaint<ModelError>(graph, {.shapes = {{"x", {1}}}}), HasSubstr("'x[3]'"));
  graph = graph_of("Identity", kList, {5});
  other = {.name = "y[0]", .kind = GraphTensor::Kind::input};
  graph.inputs.push_back(graph.add_tensor(std::move(other)));
  EXPECT_THAT(complaint<ModelError>(graph, {.shapes = {{"x", {1}}}}), HasSubstr("'y[0]'"));
}

TEST(ListInputs, NamesOfElementsAreWrittenInOneWay) {
  const auto element = as_list_element("a[0][12]");
  ASSERT_TRUE(element.has_value());
  EXPECT_EQ(element->list, "a[0]");
  EXPECT_EQ(element->place, 12);
  for (const char* name : {"x", "[0]", "x[]", "x[-1]", "x[01]", "x[0", "x[0]y", "x[+1]", "x[ 1]",
                           "x[99999999999999999999]"}) {
    EXPECT_FALSE(as_list_element(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace morton::test
