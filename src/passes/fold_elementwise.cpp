// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_elementwise.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/algebra/typed_chain.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/operator.hpp"

namespace morton::passes {
namespace {

/// Elements that are computed together: their values stay in the caches.
constexpr std::int64_t kBlock = 1024;

/// An input that the chain reads: its elements, and how far apart they are along each dimension of
/// the result (0 where it is broadcast).
struct BroadcastInput {
  const Tensor* tensor = nullptr;
  std::size_t place = 0;  ///< of the chain's inputs
  std::vector<std::int64_t> strides;
};

std::vector<std::int64_t> strides_in(const Shape& shape, const Shape& result) {
  std::vector<std::int64_t> strides(result.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t back = 1; back <= shape.size(); ++back) {
    const std::int64_t extent = shape[shape.size() - back];
    if (extent != 1) strides[result.size() - back] = stride;
    stride *= extent;
  }
  return strides;
}

/// Goes through the elements of a shape row-major, and keeps where each input's element lies.
class Walk {
 public:
  Walk(const Shape& shape, const std::vector<BroadcastInput>& inputs)
      : shape_(shape), inputs_(inputs), at_(shape.size(), 0), offsets_(inputs.size(), 0) {}

  [[nodiscard]] std::int64_t offset(std::size_t input) const { return offsets_[input]; }

  void next() {
    for (std::size_t d = shape_.size(); d-- > 0;) {
      move(d, 1);
      if (++at_[d] < shape_[d]) return;
      move(d, -shape_[d]);
      at_[d] = 0;
    }
  }

 private:
  void move(std::size_t dimension, std::int64_t count) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      offsets_[i] += count * inputs_[i].strides[dimension];
    }
  }

  const Shape& shape_;
  const std::vector<BroadcastInput>& inputs_;
  std::vector<std::int64_t> at_;
  std::vector<std::int64_t> offsets_;
};

/// The elements of `tensor` at `offsets`, as doubles.
template <typename T>
void read_as(const Tensor& tensor, std::span<const std::int64_t> offsets, double* to) {
  const std::span<const T> elements = tensor.as<T>();
  for (const std::int64_t offset : offsets) {
    *to++ = static_cast<double>(elements[static_cast<std::size_t>(offset)]);
  }
}

void read_elements(const Tensor& tensor, std::span<const std::int64_t> offsets, double* to) {
  switch (tensor.dtype()) {
    case DType::f32:
      return read_as<float>(tensor, offsets, to);
    case DType::i8:
      return read_as<std::int8_t>(tensor, offsets, to);
    case DType::u8:
      return read_as<std::uint8_t>(tensor, offsets, to);
    case DType::i32:
      return read_as<std::int32_t>(tensor, offsets, to);
    default:
      for (const std::int64_t offset : offsets) *to++ = tensor.at(offset);
  }
}

void write_elements(Tensor& tensor, std::int64_t begin, std::span<const double> values) {
  if (tensor.dtype() == DType::f32) {
    float* to = tensor.as_mutable<float>().data() + begin;
    for (const double value : values) *to++ = static_cast<float>(value);
    return;
  }
  for (const double value : values) {
    tensor.set(begin++, stored_as(tensor.dtype(), {value, 0.0}).value);
  }
}

/// The chain that alone computes the node's result, if one does.
std::optional<Chain> folded_chain(const Graph& graph, const Node& node) {
  if (node.op == "Chain") return node.epilogue;
  const Operator& op = operator_of(node);
  const bool is_chain = op.chain != nullptr && op.host.references == nullptr &&
                        op.host.reference == nullptr && node.epilogue.is_identity();
  return is_chain ? std::optional(op.chain(NodeView(graph, node))) : std::nullopt;
}

}  // namespace

std::optional<Tensor> fold_elementwise(const Graph& graph, const Node& node) {
  const GraphTensor& result = graph.tensor(node.outputs[0]);
  if (!is_real(result.dtype)) return std::nullopt;
  const std::optional<Chain> chain = folded_chain(graph, node);
  if (!chain) return std::nullopt;
  const std::vector<bool> read = inputs_read(*chain, node.inputs.size());
  std::vector<BroadcastInput> inputs;
  std::vector<DType> types;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i] == kNoTensor ? node.inputs[0] : node.inputs[i];
    const GraphTensor& input = graph.tensor(id);
    if (input.dtype == DType::i64 || input.dtype == DType::u64) return std::nullopt;
    types.push_back(input.dtype);
    if (read[i]) inputs.push_back({&input.data, i, strides_in(input.shape, result.shape)});
  }
  const TypedChain typed(*chain, std::move(types));
  Tensor folded = Tensor::allocate(result.dtype, result.shape);
  std::vector<std::vector<double>> values(node.inputs.size(), std::vector<double>(kBlock));
  std::vector<std::vector<std::int64_t>> offsets(inputs.size(), std::vector<std::int64_t>(kBlock));
  std::vector<std::vector<double>> steps;
  Walk walk(result.shape, inputs);
  for (std::int64_t begin = 0; begin < folded.size(); begin += kBlock) {
    const auto count = static_cast<std::size_t>(std::min(kBlock, folded.size() - begin));
    for (std::size_t e = 0; e < count; ++e, walk.next()) {
      for (std::size_t i = 0; i < inputs.size(); ++i) offsets[i][e] = walk.offset(i);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      read_elements(*inputs[i].tensor, std::span(offsets[i]).first(count),
                    values[inputs[i].place].data());
    }
    write_elements(folded, begin, typed.values(values, count, steps));
  }
  return folded;
}

}  // namespace morton::passes
