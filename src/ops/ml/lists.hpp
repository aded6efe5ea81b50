// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// The numbers of an attribute, whichever way the model states them: a list, or a tensor, which
/// long lists of a file become. Empty where the attribute is absent. Copies nothing.
class NumberList {
 public:
  NumberList() = default;
  /// Throws ModelError for an attribute that is no list of numbers.
  NumberList(const NodeView& node, std::string_view name);
  explicit NumberList(const Tensor& numbers) : tensor_(&numbers), size_(numbers.size()) {}

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] double real(std::int64_t i) const;
  [[nodiscard]] std::int64_t whole(std::int64_t i) const;
  [[nodiscard]] std::vector<double> reals() const;
  /// All of them as elements of `type`; an i64 keeps its digits, which a double cannot.
  [[nodiscard]] Tensor tensor(DType type, const Shape& shape) const;

 private:
  const std::vector<double>* reals_ = nullptr;
  const std::vector<std::int64_t>* wholes_ = nullptr;
  const Tensor* tensor_ = nullptr;
  std::int64_t size_ = 0;
};

/// The list `name`, or the tensor `name`_as_tensor, which ai.onnx.ml 3 has for doubles. Throws
/// ModelError where a node states both.
[[nodiscard]] NumberList list_or_tensor(const NodeView& node, const std::string& name);

/// An attribute that is a list of texts; empty where it is absent.
[[nodiscard]] std::vector<std::string> texts_of(const NodeView& node, std::string_view name);

/// Throws ModelError unless the list has `expected` numbers, which `what` explains.
void require_length(const NodeView& node, std::string_view name, std::int64_t length,
                    std::int64_t expected, std::string_view what);

/// Which of `names` the attribute is; throws ModelError, which lists them, for another.
[[nodiscard]] std::size_t choice_of(const NodeView& node, std::string_view name,
                                    std::string_view otherwise,
                                    const std::vector<std::string_view>& names);

/// Rows and features of input 0: of one dimension it is one row.
struct Rows {
  std::int64_t rows = 1;
  std::int64_t features = 0;
};

/// How many dimensions an operator allows: those of a matrix and of a row, or any, of which the
/// last are features.
enum class RowRank : std::uint8_t { matrix, any };

/// Throws ModelError for dimensions that are not allowed, or a type that ONNX does not allow.
[[nodiscard]] Rows rows_of(const NodeView& node, RowRank rank = RowRank::matrix);

/// The element types of features that devices compute: f32, f64, i32 and i64.
[[nodiscard]] std::vector<DType> feature_types();

/// A row of a table: an operator of one input, rows of features.
[[nodiscard]] Operator feature_operator(std::string_view name,
                                        std::vector<std::string_view> attributes,
                                        std::vector<TensorId> (*expand)(Expansion& expansion));

}  // namespace morton::ops
