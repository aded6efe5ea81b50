// SPDX-License-Identifier: Apache-2.0
#include "protocol/json_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>
#include <morton/error.hpp>
#include <span>
#include <type_traits>
#include <utility>

#include "protocol/datatypes.hpp"

namespace morton::serve {
namespace {

namespace dom = simdjson::dom;

/// A whole number that T holds; truths are 0 and 1.
template <typename T>
bool whole(const dom::element& element, T& out) {
  bool truth = false;
  std::uint64_t positive = 0;
  std::int64_t number = 0;
  if (element.get(truth) == simdjson::SUCCESS) {
    out = static_cast<T>(truth ? 1 : 0);
    return true;
  }
  if (element.get(number) == simdjson::SUCCESS) {
    out = static_cast<T>(number);
    return std::in_range<T>(number);
  }
  if (element.get(positive) == simdjson::SUCCESS) {
    out = static_cast<T>(positive);
    return std::in_range<T>(positive);
  }
  return false;
}

template <typename T>
void write_list(std::span<const T> values, std::string& json) {
  auto out = std::back_inserter(json);
  bool first = true;
  for (const T value : values) {
    if (!std::exchange(first, false)) json += ',';
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) {
        json += "null";
        continue;
      }
    }
    fmt::format_to(out, "{}", value);
  }
}

}  // namespace

void NumberFiller::take(const dom::array& numbers) {
  for (const dom::element element : numbers) {
    dom::array inner;
    if (element.get(inner) == simdjson::SUCCESS) {
      take(inner);
    } else {
      take_one(element);
    }
  }
}

void NumberFiller::take_one(const dom::element& element) {
  if (next_ >= tensor_.size()) {
    throw UsageError(
        fmt::format("{}: more numbers than the {} of the shape", place_, tensor_.size()));
  }
  const auto at = static_cast<std::size_t>(next_);
  const auto fill = [&]<typename T>(T) {
    T value{};
    if (!whole(element, value))
      refuse("is no number that " + std::string(datatype_of(tensor_.dtype())) + " holds");
    reinterpret_cast<T*>(tensor_.mutable_data())[at] = value;
  };
  switch (tensor_.dtype()) {
    case DType::i8:
      fill(std::int8_t{});
      break;
    case DType::u8:
      fill(std::uint8_t{});
      break;
    case DType::i16:
      fill(std::int16_t{});
      break;
    case DType::u16:
      fill(std::uint16_t{});
      break;
    case DType::i32:
      fill(std::int32_t{});
      break;
    case DType::u32:
      fill(std::uint32_t{});
      break;
    case DType::i64:
      fill(std::int64_t{});
      break;
    case DType::u64:
      fill(std::uint64_t{});
      break;
    case DType::f32: {
      double value = 0.0;
      if (element.get(value) != simdjson::SUCCESS) refuse("is no number");
      if (std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
        refuse("is beyond FP32");
      }
      reinterpret_cast<float*>(tensor_.mutable_data())[at] = static_cast<float>(value);
      break;
    }
    default: {
      double value = 0.0;
      bool truth = false;
      if (tensor_.dtype() == DType::boolean && element.get(truth) == simdjson::SUCCESS) {
        value = truth ? 1.0 : 0.0;
      } else if (element.get(value) != simdjson::SUCCESS) {
        refuse("is no number");
      }
      if (tensor_.dtype() == DType::boolean && value != 0.0 && value != 1.0) {
        refuse("is neither true nor false");
      }
      tensor_.set(next_, value);
      if (tensor_.dtype() != DType::boolean && !std::isfinite(tensor_.at(next_))) {
        refuse("is beyond " + std::string(datatype_of(tensor_.dtype())));
      }
    }
  }
  ++next_;
}

void NumberFiller::finish() const {
  if (next_ == tensor_.size()) return;
  throw UsageError(
      fmt::format("{}: {} numbers, and the shape has {}", place_, next_, tensor_.size()));
}

void NumberFiller::refuse(const std::string& why) const {
  throw UsageError(fmt::format("{}: number {} {}", place_, next_, why));
}

void write_numbers(const Tensor& tensor, std::string& json) {
  json.reserve(json.size() + static_cast<std::size_t>(tensor.size()) * 12);
  switch (tensor.dtype()) {
    case DType::f32:
      return write_list(tensor.as<float>(), json);
    case DType::f64:
      return write_list(tensor.as<double>(), json);
    case DType::i8:
      return write_list(tensor.as<std::int8_t>(), json);
    case DType::u8:
      return write_list(tensor.as<std::uint8_t>(), json);
    case DType::i16:
      return write_list(tensor.as<std::int16_t>(), json);
    case DType::u16:
      return write_list(tensor.as<std::uint16_t>(), json);
    case DType::i32:
      return write_list(tensor.as<std::int32_t>(), json);
    case DType::u32:
      return write_list(tensor.as<std::uint32_t>(), json);
    case DType::i64:
      return write_list(tensor.as<std::int64_t>(), json);
    case DType::u64:
      return write_list(tensor.as<std::uint64_t>(), json);
    case DType::boolean: {
      for (std::int64_t i = 0; i < tensor.size(); ++i) {
        if (i > 0) json += ',';
        json += tensor.at(i) != 0.0 ? "true" : "false";
      }
      return;
    }
    default: {
      const Tensor wide = tensor.converted(DType::f32);
      return write_list(wide.as<float>(), json);
    }
  }
}

}  // namespace morton::serve
