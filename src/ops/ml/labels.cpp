// SPDX-License-Identifier: Apache-2.0
//
// ZipMap: a column for each class, where ONNX has a map for each row.
#include "ops/core/elementwise.hpp"
#include "ops/core/operator.hpp"
#include "ops/ml/lists.hpp"

namespace morton::ops {
namespace {

std::vector<TensorType> infer_zip_map(const NodeView& node) {
  const TensorType input = node.input(0);
  const Rows rows = rows_of(node);
  const auto texts = static_cast<std::int64_t>(texts_of(node, "classlabels_strings").size());
  const std::int64_t numbers = NumberList(node, "classlabels_int64s").size();
  if ((texts == 0) == (numbers == 0)) {
    node.fail("it needs either 'classlabels_strings' or 'classlabels_int64s', not " +
              std::string(texts == 0 ? "none" : "both"));
  }
  if (texts + numbers != rows.features) {
    node.fail("it has " + std::to_string(texts + numbers) + " classes for " +
              std::to_string(rows.features) + " columns");
  }
  return {{input.dtype, {rows.rows, rows.features}}};
}

}  // namespace

const OperatorTable& labels_operators() {
  static const OperatorTable kTable{{
      .name = "ai.onnx.ml.ZipMap",
      .attributes = {"classlabels_int64s", "classlabels_strings"},
      .since_opset = 1,
      .infer = infer_zip_map,
      .host = {.alias = true},
      .types = all_types(),
      .takes_epilogue = false,
      .home = Operator::Home::other,
  }};
  return kTable;
}

}  // namespace morton::ops
