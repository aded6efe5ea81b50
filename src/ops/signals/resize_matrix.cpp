// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/resize_matrix.hpp"

namespace morton::ops {
namespace {

/// The matrix with rows and columns in each other's place.
std::vector<double> transposed_matrix(const std::vector<double>& matrix, std::int64_t rows) {
  const auto height = static_cast<std::size_t>(rows);
  const std::size_t width = matrix.size() / height;
  std::vector<double> result(matrix.size());
  for (std::size_t r = 0; r < height; ++r) {
    for (std::size_t c = 0; c < width; ++c) result[c * height + r] = matrix[r * width + c];
  }
  return result;
}

Tensor tensor_of(const std::vector<double>& matrix, DType type, const Shape& shape) {
  Tensor result = Tensor::allocate(type, shape);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    result.set(static_cast<std::int64_t>(i), matrix[i]);
  }
  return result;
}

/// Nearest elements weigh 1.
ResizeTable weighted_table(const NodeView& node, const Resizing& resizing, std::size_t d) {
  if (resizing.kind != Resizing::Kind::nearest) return table_of(resizing, d, node.where());
  const ResizeAxis nearest = resizing.axes[d].nearest(node, resizing.nearest_mode);
  ResizeTable table;
  table.output = nearest.output;
  for (std::int64_t o = 0; o < nearest.output; ++o) {
    table.places.push_back(nearest.element(o));
    table.weights.push_back(1.0);
  }
  return table;
}

}  // namespace

Shape around_dimension(const Shape& shape, std::size_t d) {
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(d);
  return {element_count({shape.begin(), at}), *at, element_count({at + 1, shape.end()})};
}

std::vector<double> matrix_of(const ResizeTable& table, std::int64_t extent) {
  std::vector<double> matrix(static_cast<std::size_t>(extent * table.output), 0.0);
  for (std::size_t i = 0; i < table.weights.size(); ++i) {
    const std::int64_t o = static_cast<std::int64_t>(i) / table.taps;
    matrix[static_cast<std::size_t>(o * extent + table.places[i])] += table.weights[i];
  }
  return matrix;
}

TensorId times_middle(GraphWriter& writer, TensorId value, const std::vector<double>& matrix,
                      std::int64_t rows) {
  const Shape shape = writer.shape_of(value);
  const DType type = writer.type_of(value);
  if (shape[2] > 1) {
    return writer.add("MatMul",
                      {writer.constant(tensor_of(matrix, type, {rows, shape[1]})), value});
  }
  const TensorId right =
      writer.constant(tensor_of(transposed_matrix(matrix, rows), type, {shape[1], rows}));
  const TensorId flat = writer.reshaped(value, {shape[0], shape[1]});
  return writer.reshaped(writer.add("MatMul", {flat, right}), {shape[0], rows, 1});
}

void gradient_of_resizing(Gradient& gradient, const Resizing& resizing) {
  if (!gradient.wants(0)) return;
  TensorId value = gradient.of_output();
  for (std::size_t d = 0; d < resizing.axes.size(); ++d) {
    if (keeps_dimension(resizing, d)) continue;
    Shape shape = gradient.shape_of(value);
    const std::int64_t extent = resizing.axes[d].extent;
    value = gradient.reshaped(value, around_dimension(shape, d));
    const ResizeTable table = weighted_table(gradient.node(), resizing, d);
    value = times_middle(gradient, value, transposed_matrix(matrix_of(table, extent), table.output),
                         extent);
    shape[d] = extent;
    value = gradient.reshaped(value, shape);
  }
  gradient.give(0, value);
}

}  // namespace morton::ops
