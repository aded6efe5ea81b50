// SPDX-License-Identifier: Apache-2.0
#include "protocol/input_reader.hpp"

#include <fmt/format.h>

#include <morton/error.hpp>
#include <optional>
#include <string_view>

#include "limits/message_limits.hpp"
#include "protocol/datatypes.hpp"
#include "protocol/json_members.hpp"
#include "protocol/json_numbers.hpp"
#include "protocol/raw_tensor.hpp"

namespace morton::serve {
namespace {

namespace dom = simdjson::dom;

Shape shape_of(const dom::element& element, const std::string& place) {
  Shape shape;
  for (const dom::element extent : array_of(element, place)) {
    if (shape.size() == kMostExtents) {
      throw UsageError(fmt::format("{}: more than {} extents", place, kMostExtents));
    }
    shape.push_back(integer_of(extent, place));
  }
  return shape;
}

}  // namespace

NamedTensor InputReader::read(const dom::element& element, std::size_t i) {
  const auto place = [&](std::string_view key) { return place_of("inputs", i, key); };
  const dom::object object = object_of(element, fmt::format("inputs[{}]", i));
  const auto need = [&](std::string_view key) {
    const auto found = member(object, key);
    if (!found) throw UsageError(place(key) + ": missing");
    return *found;
  };
  NamedTensor input;
  input.name = text_of(need("name"), place("name"));
  const std::string datatype = text_of(need("datatype"), place("datatype"));
  const std::optional<DType> type = dtype_of(datatype);
  if (!type) {
    throw UsageError(place("datatype") + ": '" + datatype + "' is none that models here take");
  }
  const Shape shape = shape_of(need("shape"), place("shape"));
  std::optional<std::int64_t> binary;
  if (const auto parameters = member(object, "parameters")) {
    const dom::object values = object_of(*parameters, place("parameters"));
    refuse_shared_memory(values, place("parameters"));
    if (const auto bytes = member(values, "binary_data_size")) {
      binary = integer_of(*bytes, place("parameters.binary_data_size"));
    }
  }
  const auto data = member(object, "data");
  if (binary.has_value() == data.has_value()) {
    throw UsageError(place("data") + (binary ? ": an input with binary_data_size has none"
                                             : ": missing, and there is no binary_data_size"));
  }
  input.tensor = binary ? of_bytes(*type, shape, *binary, place("parameters.binary_data_size"))
                        : of_numbers(*type, shape, *data, place("data"));
  return input;
}

void InputReader::finish() const {
  if (next_ == body_->bytes().size()) return;
  throw UsageError(
      fmt::format("{} bytes behind the JSON belong to no input", body_->bytes().size() - next_));
}

Tensor InputReader::of_bytes(DType type, const Shape& shape, std::int64_t bytes,
                             const std::string& place) {
  const std::size_t left = body_->bytes().size() - next_;
  const auto wanted = static_cast<std::size_t>(bytes);
  if (wanted > left) {
    throw UsageError(fmt::format("{}: {}, and {} bytes follow", place, bytes, left));
  }
  const auto own = body_->bytes().subspan(next_, wanted);
  next_ += wanted;
  return tensor_of_bytes(type, shape, own, body_, held_, place);
}

Tensor InputReader::of_numbers(DType type, const Shape& shape, const dom::element& data,
                               const std::string& place) const {
  const dom::array numbers = array_of(data, place);
  // A number takes a byte of the JSON at least: no shape asks for more memory than was sent.
  const auto elements = elements_of(shape, json_bytes_);
  if (!elements) throw UsageError(place + ": fewer numbers than the shape needs");
  held_.need(*elements * static_cast<std::size_t>(size_of(type)));
  Tensor tensor = Tensor::allocate(type, shape);
  NumberFiller filler(tensor, place);
  filler.take(numbers);
  filler.finish();
  return tensor;
}

}  // namespace morton::serve
