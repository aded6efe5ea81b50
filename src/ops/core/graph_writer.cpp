// SPDX-License-Identifier: Apache-2.0
#include "ops/core/graph_writer.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/made_constant.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

std::string GraphWriter::unused_name(const std::string& wish) const {
  return wish + "#" + std::to_string(graph_.tensors.size());
}

TensorId GraphWriter::place(Node node) { return place(std::move(node), 1).front(); }

std::vector<TensorId> GraphWriter::place(Node node, std::size_t outputs) {
  node.name = unused_name(prefix_ + "/" + node.op);
  node.opset = kNewestOpset;
  const std::vector<TensorType> types = infer(graph_, node);
  for (std::size_t i = 0; i < outputs; ++i) {
    GraphTensor result;
    result.name = i == 0 ? node.name : node.name + ":" + std::to_string(i);
    result.dtype = types.at(i).dtype;
    result.shape = types.at(i).shape;
    node.outputs.push_back(graph_.add_tensor(std::move(result)));
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

TensorId GraphWriter::add(std::string_view op, std::vector<TensorId> inputs,
                          Attributes attributes) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return place(std::move(node));
}

std::vector<TensorId> GraphWriter::add_several(std::string_view op, std::vector<TensorId> inputs,
                                               std::size_t outputs, Attributes attributes) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return place(std::move(node), outputs);
}

TensorId GraphWriter::constant(Tensor value) {
  return graph_.add_tensor(
      graph::constant_tensor(unused_name(prefix_ + "/constant"), std::move(value)));
}

TensorId GraphWriter::list(const std::vector<std::int64_t>& values) {
  return constant(Tensor::from({static_cast<std::int64_t>(values.size())}, values));
}

TensorId GraphWriter::numbered(std::int64_t first, const Shape& shape) {
  require_made(DType::i64, shape, prefix_);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(element_count(shape)));
  std::iota(numbers.begin(), numbers.end(), first);
  return constant(Tensor::from(shape, numbers));
}

TensorId GraphWriter::scalar(DType type, double value) {
  Tensor number = Tensor::allocate(type, {});
  number.set(0, value);
  return constant(std::move(number));
}

TensorId GraphWriter::chain(const Chain& chain, const std::vector<TensorId>& operands) {
  const std::vector<bool> read = inputs_read(chain, operands.size());
  Node node;
  node.op = "Chain";
  std::vector<int> numbers(operands.size(), 0);
  node.inputs = {operands.front()};
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (!read[i]) continue;
    numbers[i] = static_cast<int>(node.inputs.size());
    node.inputs.push_back(operands[i]);
  }
  const std::vector<int> first{0};
  node.epilogue = chain.after(Chain{}, 0, first, numbers);
  node.epilogue.input_count = static_cast<int>(node.inputs.size());
  return place(std::move(node));
}

TensorId GraphWriter::apply(ScalarOp op, const std::vector<TensorId>& operands) {
  return chain(single_step(op), operands);
}

TensorId GraphWriter::reshaped(TensorId value, const Shape& shape) {
  if (shape_of(value) == shape) return value;
  Attributes attributes;
  if (std::ranges::find(shape, 0) != shape.end()) attributes["allowzero"] = std::int64_t{1};
  return add("Reshape", {value, list(shape)}, std::move(attributes));
}

TensorId GraphWriter::transposed(TensorId value, const std::vector<std::int64_t>& order) {
  return add("Transpose", {value}, {{"perm", order}});
}

TensorId GraphWriter::expanded(TensorId value, const Shape& shape) {
  if (shape_of(value) == shape) return value;
  return add("Expand", {value, list(shape)});
}

TensorId GraphWriter::reduced(std::string_view op, TensorId value,
                              const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return value;
  return add(op, {value, list(axes)}, {{"keepdims", std::int64_t{1}}});
}

TensorId GraphWriter::sum(TensorId value, const std::vector<std::int64_t>& axes) {
  return reduced("ReduceSum", value, axes);
}

TensorId GraphWriter::mean(TensorId value, const std::vector<std::int64_t>& axes) {
  return reduced("ReduceMean", value, axes);
}

TensorId GraphWriter::summed_to(TensorId value, const Shape& shape) {
  const Shape& from = shape_of(value);
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::size_t missing = from.size() - shape.size();
    if (d < missing || (shape[d - missing] == 1 && from[d] != 1)) {
      axes.push_back(static_cast<std::int64_t>(d));
    }
  }
  return reshaped(sum(value, axes), shape);
}

TensorId GraphWriter::sliced(TensorId value, const std::vector<std::int64_t>& starts,
                             const std::vector<std::int64_t>& ends,
                             const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < starts.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  return add("Slice", {value, list(starts), list(ends), list(axes), list(steps)});
}

TensorId GraphWriter::padded(TensorId value, const std::vector<std::int64_t>& before,
                             const std::vector<std::int64_t>& behind) {
  std::vector<std::int64_t> pads = before;
  pads.insert(pads.end(), behind.begin(), behind.end());
  return add("Pad", {value, list(pads)});
}

TensorId GraphWriter::scaled(TensorId value, double factor) {
  if (factor == 1.0) return value;
  Chain product;
  product.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::constant(factor)});
  return chain(product, {value});
}

TensorId GraphWriter::converted(TensorId value, DType type) {
  if (value == kNoTensor || type_of(value) == type) return value;
  Chain conversion;
  conversion.append_conversion(ScalarOp::cast, ScalarRef::input(0), type);
  return chain(conversion, {value});
}

}  // namespace morton::ops
