// SPDX-License-Identifier: Apache-2.0
#include "grpc/infer_codec.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <morton/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "limits/message_limits.hpp"
#include "protocol/datatypes.hpp"
#include "protocol/raw_tensor.hpp"

namespace morton::serve {
namespace {

namespace pb = google::protobuf;
using Message = inference::ModelInferRequest;
using Owner = std::shared_ptr<const Message>;
using Parameters = pb::Map<std::string, inference::InferParameter>;

void require_at_most(int count, std::size_t most, const std::string& list) {
  if (static_cast<std::size_t>(count) > most)
    throw UsageError(fmt::format("{}: more than {}", list, most));
}

void refuse_parameters(const Parameters& parameters, const std::string& place) {
  for (const char* name : {"shared_memory_region", "classification"}) {
    if (parameters.find(name) == parameters.end()) continue;
    throw UsageError(fmt::format("{}.parameters.{}: this extension is not served", place, name));
  }
}

/// Where an input's numbers come from, and what messages call it.
struct NumberSource {
  DType type;
  const Shape& shape;
  const Owner& owner;
  HeldMemory& held;
  const std::string& place;
};

/// A tensor of T from numbers that the message has as Sent.
template <typename T, typename Sent>
Tensor of_numbers(const NumberSource& source, const pb::RepeatedField<Sent>& numbers) {
  const auto count = static_cast<std::size_t>(numbers.size());
  if (elements_of(source.shape, count) != count) {
    throw UsageError(
        fmt::format("{}.contents: {} numbers in the field of {}, which is not what "
                    "the shape needs",
                    source.place, count, datatype_of(source.type)));
  }
  if constexpr (sizeof(T) == sizeof(Sent)) {
    return Tensor::share(source.type, source.shape, numbers.data(), count * sizeof(T),
                         source.owner);
  } else {
    source.held.need(count * sizeof(T));
    Tensor tensor = Tensor::allocate(source.type, source.shape);
    auto* to = reinterpret_cast<T*>(tensor.mutable_data());
    for (const Sent number : numbers) {
      if (!std::in_range<T>(number)) {
        throw UsageError(fmt::format("{}.contents: {} is beyond {}", source.place, number,
                                     datatype_of(source.type)));
      }
      *to++ = static_cast<T>(number);
    }
    return tensor;
  }
}

Tensor of_contents(const NumberSource& source, const inference::InferTensorContents& contents) {
  switch (source.type) {
    case DType::boolean:
      return of_numbers<bool>(source, contents.bool_contents());
    case DType::i8:
      return of_numbers<std::int8_t>(source, contents.int_contents());
    case DType::i16:
      return of_numbers<std::int16_t>(source, contents.int_contents());
    case DType::i32:
      return of_numbers<std::int32_t>(source, contents.int_contents());
    case DType::i64:
      return of_numbers<std::int64_t>(source, contents.int64_contents());
    case DType::u8:
      return of_numbers<std::uint8_t>(source, contents.uint_contents());
    case DType::u16:
      return of_numbers<std::uint16_t>(source, contents.uint_contents());
    case DType::u32:
      return of_numbers<std::uint32_t>(source, contents.uint_contents());
    case DType::u64:
      return of_numbers<std::uint64_t>(source, contents.uint64_contents());
    case DType::f32:
      return of_numbers<float>(source, contents.fp32_contents());
    case DType::f64:
      return of_numbers<double>(source, contents.fp64_contents());
    default:
      throw UsageError(fmt::format("{}: {} is taken as raw_input_contents alone", source.place,
                                   datatype_of(source.type)));
  }
}

NamedTensor read_input(const Owner& message, int i, HeldMemory& held) {
  const auto& input = message->inputs(i);
  const std::string place = fmt::format("inputs[{}]", i);
  const std::optional<DType> type = dtype_of(input.datatype());
  if (!type) {
    throw UsageError(place + ".datatype: '" + input.datatype() + "' is none that models here take");
  }
  require_at_most(input.shape_size(), kMostExtents, place + ".shape");
  const Shape shape(input.shape().begin(), input.shape().end());
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
    throw UsageError(place + ".shape: expected whole numbers of 0 or more");
  }
  refuse_parameters(input.parameters(), place);
  if (message->raw_input_contents_size() == 0) {
    return {input.name(), of_contents({*type, shape, message, held, place}, input.contents())};
  }
  if (input.has_contents()) {
    throw UsageError(place + ".contents: a request with raw_input_contents has none");
  }
  const std::string& raw = message->raw_input_contents(i);
  return {input.name(), tensor_of_bytes(*type, shape, std::as_bytes(std::span(raw)), message, held,
                                        fmt::format("raw_input_contents[{}]", i))};
}

std::optional<std::int64_t> timeout_of(const Message& message) {
  const auto found = message.parameters().find("timeout");
  if (found == message.parameters().end()) return std::nullopt;
  using Choice = inference::InferParameter;
  std::int64_t us = -1;
  if (found->second.parameter_choice_case() == Choice::kInt64Param) {
    us = found->second.int64_param();
  } else if (found->second.parameter_choice_case() == Choice::kUint64Param) {
    us = static_cast<std::int64_t>(
        std::min(found->second.uint64_param(), static_cast<std::uint64_t>(kMostTimeoutUs)));
  }
  if (us < 0) throw UsageError("parameters.timeout: expected a whole number of 0 or more");
  return us == 0 ? std::nullopt : std::optional(std::min(us, kMostTimeoutUs));
}

template <typename T, typename Sent>
void put(const Tensor& tensor, pb::RepeatedField<Sent>& field) {
  const auto* const from = reinterpret_cast<const T*>(tensor.data());
  field.Add(from, from + tensor.size());
}

/// Of a type that `has_contents`.
void put_contents(const Tensor& tensor, inference::InferTensorContents& contents) {
  switch (tensor.dtype()) {
    case DType::boolean:
      return put<bool>(tensor, *contents.mutable_bool_contents());
    case DType::i8:
      return put<std::int8_t>(tensor, *contents.mutable_int_contents());
    case DType::i16:
      return put<std::int16_t>(tensor, *contents.mutable_int_contents());
    case DType::i32:
      return put<std::int32_t>(tensor, *contents.mutable_int_contents());
    case DType::i64:
      return put<std::int64_t>(tensor, *contents.mutable_int64_contents());
    case DType::u8:
      return put<std::uint8_t>(tensor, *contents.mutable_uint_contents());
    case DType::u16:
      return put<std::uint16_t>(tensor, *contents.mutable_uint_contents());
    case DType::u32:
      return put<std::uint32_t>(tensor, *contents.mutable_uint_contents());
    case DType::u64:
      return put<std::uint64_t>(tensor, *contents.mutable_uint64_contents());
    case DType::f32:
      return put<float>(tensor, *contents.mutable_fp32_contents());
    case DType::f64:
      return put<double>(tensor, *contents.mutable_fp64_contents());
    default:
      break;
  }
}

bool has_contents(DType type) { return type != DType::f16 && type != DType::bf16; }

/// The tag and length of a raw output.
std::string raw_head(std::size_t bytes) {
  using Wire = pb::internal::WireFormatLite;
  std::array<std::uint8_t, 16> head{};
  constexpr std::uint32_t kTag =
      Wire::MakeTag(inference::ModelInferResponse::kRawOutputContentsFieldNumber,
                    Wire::WIRETYPE_LENGTH_DELIMITED);
  auto* end = pb::io::CodedOutputStream::WriteTagToArray(kTag, head.data());
  end = pb::io::CodedOutputStream::WriteVarint64ToArray(bytes, end);
  return {reinterpret_cast<const char*>(head.data()), static_cast<std::size_t>(end - head.data())};
}

/// The tensor's own bytes.
grpc::Slice slice_of(const Tensor& tensor) {
  auto* const owner = new Tensor(tensor);
  return {const_cast<std::byte*>(owner->stored()), owner->bytes(),
          [](void* tensor_given) { delete static_cast<Tensor*>(tensor_given); }, owner};
}

}  // namespace

InferRequest read_infer_request(const Owner& message, HeldMemory& held) {
  require_at_most(message->inputs_size(), kMostPorts, "inputs");
  require_at_most(message->outputs_size(), kMostPorts, "outputs");
  const int raw = message->raw_input_contents_size();
  if (raw != 0 && raw != message->inputs_size()) {
    throw UsageError(fmt::format("raw_input_contents: {}, and there are {} inputs", raw,
                                 message->inputs_size()));
  }
  InferRequest request;
  request.id = message->id();
  request.timeout_us = timeout_of(*message);
  request.outputs_as_binary = raw != 0;
  for (int i = 0; i < message->outputs_size(); ++i) {
    refuse_parameters(message->outputs(i).parameters(), fmt::format("outputs[{}]", i));
    request.outputs.push_back({message->outputs(i).name(), request.outputs_as_binary});
  }
  for (int i = 0; i < message->inputs_size(); ++i) {
    request.inputs.push_back(read_input(message, i, held));
  }
  return request;
}

grpc::ByteBuffer write_infer_response(const Inference& inference,
                                      std::span<const NamedTensor> outputs, HeldMemory& held) {
  const InferRequest& request = inference.request;
  const auto chosen = chosen_of(request, outputs);
  bool is_raw = request.outputs_as_binary;
  std::size_t bytes = 0;
  for (const auto& [output, ignored] : chosen) {
    is_raw = is_raw || !has_contents(output->tensor.dtype());
    bytes += output->tensor.bytes();
  }
  // Numbers lie in the message, at up to four times the width, and in its bytes.
  constexpr std::size_t kWidest = 4;
  held.need(is_raw ? bytes : bytes * (kWidest + 1));
  inference::ModelInferResponse response;
  response.set_model_name(inference.name);
  response.set_model_version(inference.model->version());
  response.set_id(request.id);
  for (const auto& [output, ignored] : chosen) {
    const Tensor& tensor = output->tensor;
    const std::string_view datatype = datatype_of(tensor.dtype());
    if (datatype.empty()) {
      throw UnsupportedError("output '" + output->name + "' is of type " +
                             std::string(name_of(tensor.dtype())) +
                             ", which the protocol has no name for");
    }
    auto& one = *response.add_outputs();
    one.set_name(output->name);
    one.set_datatype(std::string(datatype));
    one.mutable_shape()->Add(tensor.shape().begin(), tensor.shape().end());
    if (!is_raw) put_contents(tensor, *one.mutable_contents());
  }
  std::vector<grpc::Slice> slices{grpc::Slice(response.SerializeAsString())};
  for (const auto& [output, ignored] : chosen) {
    if (!is_raw) break;
    slices.emplace_back(raw_head(output->tensor.bytes()));
    slices.push_back(slice_of(output->tensor));
  }
  return {slices.data(), slices.size()};
}

}  // namespace morton::serve
