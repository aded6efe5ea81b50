// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/lists.hpp"

#include <algorithm>
#include <limits>

#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

/// Characters of a model's text that messages show.
constexpr std::size_t kLongestShown = 40;

}  // namespace

NumberList::NumberList(const NodeView& node, std::string_view name) {
  const auto found = node.node().attributes.find(std::string(name));
  if (found == node.node().attributes.end()) return;
  reals_ = std::get_if<std::vector<double>>(&found->second);
  wholes_ = std::get_if<std::vector<std::int64_t>>(&found->second);
  tensor_ = std::get_if<Tensor>(&found->second);
  if (reals_ != nullptr) {
    size_ = static_cast<std::int64_t>(reals_->size());
  } else if (wholes_ != nullptr) {
    size_ = static_cast<std::int64_t>(wholes_->size());
  } else if (tensor_ != nullptr && tensor_->shape().size() == 1) {
    size_ = tensor_->size();
  } else {
    node.fail("the attribute '" + std::string(name) + "' is no list of numbers");
  }
}

double NumberList::real(std::int64_t i) const {
  if (reals_ != nullptr) return (*reals_)[static_cast<std::size_t>(i)];
  if (wholes_ != nullptr) return static_cast<double>((*wholes_)[static_cast<std::size_t>(i)]);
  return tensor_->at(i);
}

std::int64_t NumberList::whole(std::int64_t i) const {
  if (wholes_ != nullptr) return (*wholes_)[static_cast<std::size_t>(i)];
  if (tensor_ != nullptr && tensor_->dtype() == DType::i64) {
    return tensor_->as<std::int64_t>()[static_cast<std::size_t>(i)];
  }
  // What no integer holds becomes the least one, which no list allows.
  constexpr double kTwo63 = 9223372036854775808.0;
  const double value = real(i);
  const bool is_held = value >= -kTwo63 && value < kTwo63;
  return is_held ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::min();
}

Tensor NumberList::tensor(DType type, const Shape& shape) const {
  Tensor result = Tensor::allocate(type, shape);
  for (std::int64_t i = 0; i < size_; ++i) {
    if (type == DType::i64) {
      result.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] = whole(i);
    } else {
      result.set(i, real(i));
    }
  }
  return result;
}

std::vector<double> NumberList::reals() const {
  std::vector<double> result;
  for (std::int64_t i = 0; i < size_; ++i) result.push_back(real(i));
  return result;
}

NumberList list_or_tensor(const NodeView& node, const std::string& name) {
  const std::string tensor = name + "_as_tensor";
  if (node.has(name) && node.has(tensor)) {
    node.fail("states both '" + name + "' and '" + tensor + "'");
  }
  return {node, node.has(tensor) ? tensor : name};
}

std::vector<std::string> texts_of(const NodeView& node, std::string_view name) {
  const auto found = node.node().attributes.find(std::string(name));
  if (found == node.node().attributes.end()) return {};
  const auto* texts = std::get_if<std::vector<std::string>>(&found->second);
  if (texts == nullptr) node.fail("the attribute '" + std::string(name) + "' is no list of texts");
  return *texts;
}

void require_length(const NodeView& node, std::string_view name, std::int64_t length,
                    std::int64_t expected, std::string_view what) {
  if (length == expected) return;
  node.fail("'" + std::string(name) + "' has " + std::to_string(length) + " numbers, expected " +
            std::to_string(expected) + ", " + std::string(what));
}

std::size_t choice_of(const NodeView& node, std::string_view name, std::string_view otherwise,
                      const std::vector<std::string_view>& names) {
  const std::string given = node.text(name, otherwise);
  const auto found = std::ranges::find(names, given);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (const std::string_view one : names) {
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  node.fail("'" + std::string(name) + "' is '" + given.substr(0, kLongestShown) +
            "', expected one of " + known);
}

Rows rows_of(const NodeView& node, RowRank rank) {
  const TensorType input = node.input(0);
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::f16};
  if (std::ranges::find(kTypes, input.dtype) == std::end(kTypes)) {
    node.fail("its input is " + std::string(name_of(input.dtype)) +
              ", expected f32, f64, f16, i32 or i64");
  }
  if (input.shape.size() == 1) return {1, input.shape[0]};
  if (input.shape.size() == 2) return {input.shape[0], input.shape[1]};
  if (rank == RowRank::any && !input.shape.empty()) {
    const Shape rows(input.shape.begin(), input.shape.end() - 1);
    return {element_count(rows), input.shape.back()};
  }
  node.fail("its input has the shape " + to_string(input.shape) +
            ", expected rows of features: two dimensions");
}

std::vector<DType> feature_types() { return {DType::f32, DType::f64, DType::i32, DType::i64}; }

Operator feature_operator(std::string_view name, std::vector<std::string_view> attributes,
                          std::vector<TensorId> (*expand)(Expansion& expansion)) {
  Operator op = foreign_operator(name, {}, std::move(attributes), expand);
  op.types = feature_types();
  return op;
}

}  // namespace morton::ops
