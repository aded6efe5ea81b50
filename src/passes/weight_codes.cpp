// SPDX-License-Identifier: Apache-2.0
#include "passes/weight_codes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// Rows of `from`, each cut to its first `columns` numbers.
Tensor first_columns(const Tensor& from, std::int64_t rows, std::int64_t columns) {
  const std::int64_t given = from.size() / rows;
  if (given == columns) return from.reshaped({rows, columns});
  Tensor cut = Tensor::allocate(from.dtype(), {rows, columns});
  const auto bytes = static_cast<std::size_t>(size_of(from.dtype()));
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(cut.mutable_data() + static_cast<std::size_t>(row * columns) * bytes,
                from.stored() + static_cast<std::size_t>(row * given) * bytes,
                static_cast<std::size_t>(columns) * bytes);
  }
  return cut;
}

Tensor filled(DType type, const Shape& shape, double value) {
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set(i, value);
  return tensor;
}

/// A type of codes: its bits, and what makes its least number 0.
struct CodeType {
  DType type;
  std::int64_t bits, raised;
};
constexpr std::array kCodeTypes{CodeType{DType::u8, 8, 0}, CodeType{DType::i8, 8, 128},
                                CodeType{DType::u4, 4, 0}, CodeType{DType::i4, 4, 8},
                                CodeType{DType::u2, 2, 0}, CodeType{DType::i2, 2, 2}};

/// How the numbers of a tensor of scales or zeros are found for block g of column n.
struct Spread {
  enum class Along : std::uint8_t { none, columns, blocks } along = Along::none;
  std::int64_t n = 1, blocks = 1;
  bool by_column = false;

  [[nodiscard]] Shape shape() const { return by_column ? Shape{n, blocks} : Shape{blocks, n}; }
  [[nodiscard]] std::int64_t source(std::int64_t i) const {
    if (along == Along::none) return 0;
    if (along == Along::blocks) return i;
    return by_column ? i / blocks : i % n;
  }
};

/// The numbers of `from`, spread over all blocks, in another type.
Tensor spread_over(const Tensor& from, const Spread& spread, DType type, double raised) {
  Tensor all = Tensor::allocate(type, spread.shape());
  for (std::int64_t i = 0; i < all.size(); ++i) all.set(i, from.at(spread.source(i)) + raised);
  return all;
}

/// Codes of a matrix of bytes, K x N or N x K, joined along K into bytes.
Tensor joined_codes(const Tensor& codes, const WeightCodes& of, std::int64_t k, std::int64_t n,
                    std::int64_t raised) {
  const std::int64_t each = 8 / of.bits;
  if (each == 1 && raised == 0) return codes;
  const std::int64_t rows = (k + each - 1) / each;
  Tensor bytes = Tensor::allocate(DType::u8, of.by_column ? Shape{n, rows} : Shape{rows, n});
  const auto* from = reinterpret_cast<const std::uint8_t*>(codes.stored());
  std::uint8_t* to = bytes.as_mutable<std::uint8_t>().data();
  const std::int64_t mask = (1 << of.bits) - 1;
  for (std::int64_t outer = 0; outer < (of.by_column ? n : k); ++outer) {
    for (std::int64_t inner = 0; inner < (of.by_column ? k : n); ++inner) {
      const std::int64_t row = of.by_column ? inner : outer;
      const std::int64_t column = of.by_column ? outer : inner;
      const std::int64_t at = row / each;
      const std::int64_t code = (*from++ + raised) & mask;
      to[of.by_column ? column * rows + at : at * n + column] |=
          static_cast<std::uint8_t>(code << (row % each * of.bits));
    }
  }
  return bytes;
}

/// Over which numbers of the codes, k x n, the scales of a DequantizeLinear reach.
std::optional<Spread> spread_of(const Node& node, const Shape& codes, const Shape& scale,
                                WeightCodes& of) {
  Spread spread;
  spread.by_column = of.by_column;
  const std::size_t rows_at = of.by_column ? 1 : 0;
  const std::int64_t k = codes[rows_at];
  spread.n = codes[1 - rows_at];
  of.block = k;
  if (element_count(scale) == 1) return spread;
  std::int64_t axis = integer_of(node, "axis", 1);
  if (axis < 0) axis += 2;
  const std::int64_t block = integer_of(node, "block_size", 0);
  if (block == 0) {
    if (axis == static_cast<std::int64_t>(rows_at)) return {};
    spread.along = Spread::Along::columns;
    return spread;
  }
  if (axis != static_cast<std::int64_t>(rows_at)) return {};
  if (block < k && block % (8 / of.bits) != 0) return {};
  of.block = block;
  spread.along = Spread::Along::blocks;
  spread.blocks = (k + block - 1) / block;
  return element_count(scale) == spread.blocks * spread.n ? std::optional(spread) : std::nullopt;
}

}  // namespace

std::optional<WeightCodes> codes_of_blocks(const Graph& graph, const Node& node,
                                           const ops::BlockWeights& of) {
  using ops::BlockInput;
  const ops::NodeView view(graph, node);
  const Tensor* packed = view.constant(BlockInput::packed_codes);
  const Tensor* scales = view.constant(BlockInput::scales);
  if (packed == nullptr || scales == nullptr || view.has_input(BlockInput::group_of_row)) return {};
  WeightCodes weights{of.bits, of.block, true};
  weights.bytes = first_columns(*packed, of.n, of.bytes_of(of.k));
  weights.scales = scales->reshaped({of.n, of.blocks});
  if (scales->dtype() != DType::f32) weights.scales = weights.scales.converted(DType::f32);
  if (!view.has_input(BlockInput::zeros)) {
    weights.zeros = filled(DType::u8, {of.n, of.blocks}, static_cast<double>(1 << (of.bits - 1)));
    return weights;
  }
  const Tensor* zeros = view.constant(BlockInput::zeros);
  if (zeros == nullptr || zeros->dtype() != DType::u8) return {};
  weights.zeros = first_columns(ops::unpacked_codes(*zeros, of.n, of.bits), of.n, of.blocks);
  return weights;
}

std::optional<WeightCodes> codes_behind(const Graph& graph, const Node& dequantize,
                                        bool by_column) {
  const Tensor* codes = constant_data(graph, dequantize.inputs[0]);
  const Tensor* scale = constant_data(graph, dequantize.inputs[1]);
  if (codes == nullptr || scale == nullptr || codes->shape().size() != 2) return {};
  if (scale->dtype() != DType::f32) return {};
  const auto* const type = std::ranges::find(kCodeTypes, codes->dtype(), &CodeType::type);
  if (type == kCodeTypes.end()) return {};
  WeightCodes weights{type->bits, 1, by_column};
  const auto spread = spread_of(dequantize, codes->shape(), scale->shape(), weights);
  if (!spread) return {};
  const auto raised = static_cast<double>(type->raised);
  const bool has_zero = dequantize.inputs.size() > 2 && dequantize.inputs[2] != kNoTensor;
  const Tensor* zero = has_zero ? constant_data(graph, dequantize.inputs[2]) : nullptr;
  if (has_zero && zero == nullptr) return {};
  weights.zeros = has_zero ? spread_over(*zero, *spread, DType::u8, raised)
                           : filled(DType::u8, spread->shape(), raised);
  weights.scales = spread_over(*scale, *spread, DType::f32, 0.0);
  const std::int64_t k = codes->shape()[by_column ? 1 : 0];
  weights.bytes = joined_codes(*codes, weights, k, spread->n, type->raised);
  return weights;
}

TensorId coded_product(ops::GraphWriter& to, TensorId rows, WeightCodes weights) {
  return to.add("CodedMatMul",
                {rows, to.constant(std::move(weights.bytes)),
                 to.constant(std::move(weights.scales)), to.constant(std::move(weights.zeros))},
                {{"bits", weights.bits},
                 {"block_size", weights.block},
                 {"by_column", std::int64_t{weights.by_column}}});
}

}  // namespace morton::passes
