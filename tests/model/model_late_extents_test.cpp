// SPDX-License-Identifier: Apache-2.0
//
// Extents that only a run finds out: one plan serves them all.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "graph/random_network.hpp"
#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

class ModelLateExtents : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelLateExtents);

constexpr std::int64_t kRows = 5;
constexpr std::int64_t kColumns = 3;

/// r: the rows of x whose largest element is above 0.
class RowsAboveZero : public RandomNetwork {
 public:
  RowsAboveZero() : RandomNetwork("rows", 1, 17) {
    x = input("x", {{kRows, ""}, {kColumns, ""}});
    const TensorId most =
        node("ReduceMax", "most", {x},
             {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}});
    const TensorId above = node("Greater", "above", {most, filled("zero", {}, 0.0F)});
    r = node("Compress", "r", {x, above}, {{"axis", std::int64_t{0}}});
  }
  void gives(TensorId id, std::vector<Dimension> extents = {{0, "rows"}, {kColumns, ""}}) {
    output(id, std::move(extents));
  }
  TensorId x, r;
};

Tensor to_tensor(const Rows& rows) {
  Tensor tensor = Tensor::allocate(DType::f32, {kRows, kColumns});
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    tensor.set(
        i, rows[static_cast<std::size_t>(i / kColumns)][static_cast<std::size_t>(i % kColumns)]);
  }
  return tensor;
}

Rows to_rows(const Tensor& tensor) {
  Rows rows(static_cast<std::size_t>(tensor.shape().at(0)));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    rows[static_cast<std::size_t>(i / kColumns)].push_back(tensor.at(i));
  }
  return rows;
}

Rows above_zero(const Rows& rows) {
  Rows kept;
  for (const Row& row : rows) {
    if (*std::ranges::max_element(row) > 0.0) kept.push_back(row);
  }
  return kept;
}

/// Some rows, none, all, and one.
const std::vector<Rows> kRuns{{{1, -2, 3}, {-1, -1, -1}, {4, 5, -6}, {-7, -8, -9}, {0, 0.5, 0}},
                              {{-1, -1, -1}, {-1, -2, -3}, {-4, -5, -6}, {-7, -8, -9}, {0, 0, 0}},
                              {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}},
                              {{-1, -1, -1}, {-1, -2, -3}, {-4, -5, -6}, {-7, 8, -9}, {0, 0, 0}}};

TEST_P(ModelLateExtents, OutputsAreAsLongAsTheDataSay) {
  RowsAboveZero network;
  network.gives(network.r);
  network.gives(network.node("Shape", "shape", {network.r}), {{2, ""}});
  const CompiledModel model = compile(to_model(network.finish()), device());
  ASSERT_EQ(model.outputs().size(), 2U);
  EXPECT_EQ(model.outputs()[0].shape, (Shape{kRows, kColumns}));
  EXPECT_EQ(model.outputs()[0].counts.size(), 2U);
  EXPECT_EQ(model.outputs()[0].counts[1], "");
  Session session(model);
  for (const Rows& rows : kRuns) {
    const auto outputs = session.run(std::vector<NamedTensor>{{"x", to_tensor(rows)}});
    const Rows expected = above_zero(rows);
    EXPECT_EQ(outputs[0].tensor.shape(),
              (Shape{static_cast<std::int64_t>(expected.size()), kColumns}));
    EXPECT_EQ(to_rows(outputs[0].tensor), expected);
    EXPECT_EQ(outputs[1].tensor.at(0), static_cast<double>(expected.size()));
    EXPECT_EQ(to_rows(session.get_output("r")), expected);
    EXPECT_EQ(session.get_output(model.outputs()[0].counts[0]).at(0),
              static_cast<double>(expected.size()));
  }
}

TEST_P(ModelLateExtents, PartsStandSideBySideWithoutVoid) {
  RowsAboveZero network;
  const TensorId joined = network.node("Concat", "joined", {network.r, network.x, network.r},
                                       {{"axis", std::int64_t{0}}});
  network.gives(joined);
  network.gives(network.node("Slice", "last",
                             {joined, network.list("from", {-2}), network.list("to", {1000})}));
  const CompiledModel model = compile(to_model(network.finish()), device());
  Session session(model);
  for (const Rows& rows : kRuns) {
    const auto outputs = session.run(std::vector<NamedTensor>{{"x", to_tensor(rows)}});
    const Rows kept = above_zero(rows);
    Rows expected = kept;
    expected.insert(expected.end(), rows.begin(), rows.end());
    expected.insert(expected.end(), kept.begin(), kept.end());
    EXPECT_EQ(to_rows(outputs[0].tensor), expected);
    EXPECT_EQ(to_rows(outputs[1].tensor), Rows(expected.end() - 2, expected.end()));
  }
}

TEST_P(ModelLateExtents, WhatJoinsElementsLeavesVoidOut) {
  const std::map<std::string, Attribute> along{{"axes", std::vector<std::int64_t>{0}},
                                               {"keepdims", std::int64_t{0}}};
  RowsAboveZero network;
  network.gives(network.node("ReduceMax", "max", {network.r}, along), {{kColumns, ""}});
  network.gives(network.node("ReduceMean", "mean", {network.r}, along), {{kColumns, ""}});
  const TensorId turned = network.node("Transpose", "turned", {network.r});
  network.gives(network.node("MatMul", "gram", {turned, network.r}),
                {{kColumns, ""}, {kColumns, ""}});
  network.gives(network.node("Softmax", "shares", {network.r}, {{"axis", std::int64_t{0}}}));
  const CompiledModel model = compile(to_model(network.finish()), device());
  Session session(model);
  for (const Rows& rows : kRuns) {
    const auto outputs = session.run(std::vector<NamedTensor>{{"x", to_tensor(rows)}});
    const Rows kept = above_zero(rows);
    if (kept.empty()) continue;
    for (std::size_t c = 0; c < kColumns; ++c) {
      double most = -1e9, sum = 0.0, gram = 0.0, shares = 0.0;
      for (const Row& row : kept) {
        most = std::max(most, row[c]);
        sum += row[c];
        gram += row[c] * row[0];
        shares += std::exp(row[c]);
      }
      const auto at = static_cast<std::int64_t>(c);
      EXPECT_EQ(outputs[0].tensor.at(at), most);
      EXPECT_NEAR(outputs[1].tensor.at(at), sum / static_cast<double>(kept.size()), 1e-5);
      EXPECT_NEAR(outputs[2].tensor.at(at * kColumns), gram, 1e-4);
      for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_NEAR(outputs[3].tensor.at(static_cast<std::int64_t>(i) * kColumns + at),
                    std::exp(kept[i][c]) / shares, 1e-5);
      }
    }
  }
}

TEST_P(ModelLateExtents, WhatHasNoRuleIsRefusedByName) {
  RowsAboveZero network;
  network.gives(network.node("Add", "added", {network.r, network.x}));
  const auto error =
      thrown<UnsupportedError>([&] { (void)compile(to_model(network.finish()), device()); });
  EXPECT_THAT(error.what(), HasSubstr("Add 'added'"));
}

}  // namespace
}  // namespace morton::test
