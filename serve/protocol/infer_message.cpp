// SPDX-License-Identifier: Apache-2.0
#include "protocol/infer_message.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <morton/error.hpp>
#include <utility>

#include "protocol/datatypes.hpp"
#include "protocol/json_numbers.hpp"

namespace morton::serve {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kKeptParserBytes = std::size_t{1} << 20;
/// Inputs or outputs of a request: no model has more.
constexpr std::size_t kMostPorts = 4096;

/// The parser of this thread. What a large request took is given back behind it.
class KeptParser {
 public:
  KeptParser() = default;
  KeptParser(const KeptParser&) = delete;
  KeptParser& operator=(const KeptParser&) = delete;
  ~KeptParser() {
    if (parser().capacity() > kKeptParserBytes) parser() = dom::parser();
  }
  [[nodiscard]] static dom::parser& parser() {
    thread_local dom::parser one;
    return one;
  }
};

void require_few(std::size_t count, std::string_view list) {
  if (count < kMostPorts) return;
  throw UsageError(fmt::format("{}: more than {}", list, kMostPorts));
}

/// What names memory that the server does not share with its clients.
void refuse_shared_memory(const dom::object& parameters, const std::string& place) {
  dom::element found;
  if (parameters.at_key("shared_memory_region").get(found) != simdjson::SUCCESS) return;
  throw UsageError(place + ".shared_memory_region: the extension for shared memory is not served");
}

/// "inputs[0].shape"
std::string place_of(std::string_view list, std::size_t i, std::string_view key) {
  return fmt::format("{}[{}].{}", list, i, key);
}

/// A member of an object; none where it is missing or null.
std::optional<dom::element> member(const dom::object& object, std::string_view key) {
  dom::element found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

std::string text_of(const dom::element& element, const std::string& place) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) throw UsageError(place + ": expected a text");
  return std::string(text);
}

std::int64_t integer_of(const dom::element& element, const std::string& place) {
  std::int64_t number = 0;
  if (element.get(number) != simdjson::SUCCESS || number < 0) {
    throw UsageError(place + ": expected a whole number of 0 or more");
  }
  return number;
}

bool truth_of(const dom::element& element, const std::string& place) {
  bool truth = false;
  if (element.get(truth) != simdjson::SUCCESS) throw UsageError(place + ": expected true or false");
  return truth;
}

dom::array array_of(const dom::element& element, const std::string& place) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) throw UsageError(place + ": expected an array");
  return array;
}

dom::object object_of(const dom::element& element, const std::string& place) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) throw UsageError(place + ": expected an object");
  return object;
}

Shape shape_of(const dom::element& element, const std::string& place) {
  Shape shape;
  for (const dom::element extent : array_of(element, place)) {
    shape.push_back(integer_of(extent, place));
  }
  return shape;
}

/// The number of elements, or nothing where that is beyond `most`.
std::optional<std::size_t> elements_of(const Shape& shape, std::size_t most) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    if (static_cast<std::size_t>(extent) > most / count) return std::nullopt;
    count *= static_cast<std::size_t>(extent);
  }
  return count;
}

bool are_truths(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte one) { return one <= std::byte{1}; });
}

/// Reads the inputs of one request.
class InputReader {
 public:
  InputReader(const std::shared_ptr<const RequestBody>& body, std::size_t json_bytes)
      : body_(body), json_bytes_(json_bytes), next_(json_bytes) {}

  NamedTensor read(const dom::element& element, std::size_t i) {
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

  /// Throws UsageError where bytes are left.
  void finish() const {
    if (next_ == body_->bytes().size()) return;
    throw UsageError(
        fmt::format("{} bytes behind the JSON belong to no input", body_->bytes().size() - next_));
  }

 private:
  Tensor of_bytes(DType type, const Shape& shape, std::int64_t bytes, const std::string& place) {
    const std::size_t left = body_->bytes().size() - next_;
    const auto size = static_cast<std::size_t>(size_of(type));
    const auto elements = elements_of(shape, left / size);
    if (!elements || *elements * size != static_cast<std::size_t>(bytes)) {
      throw UsageError(fmt::format(
          "{}: {}, which is not what the shape needs, or more than the {} bytes that follow", place,
          bytes, left));
    }
    const std::byte* const data = body_->bytes().data() + next_;
    next_ += static_cast<std::size_t>(bytes);
    if (type == DType::boolean && !are_truths({data, static_cast<std::size_t>(bytes)})) {
      throw UsageError(place + ": a byte of BOOL is neither 0 nor 1");
    }
    if (reinterpret_cast<std::uintptr_t>(data) % size == 0) {
      return Tensor::share(type, shape, data, static_cast<std::size_t>(bytes), body_);
    }
    Tensor copy = Tensor::allocate(type, shape);
    std::copy_n(data, bytes, copy.mutable_data());
    return copy;
  }

  Tensor of_numbers(DType type, const Shape& shape, const dom::element& data,
                    const std::string& place) const {
    const dom::array numbers = array_of(data, place);
    // A number takes a byte of the JSON at least: no shape asks for more memory than was sent.
    const auto elements = elements_of(shape, json_bytes_);
    if (!elements) throw UsageError(place + ": fewer numbers than the shape needs");
    Tensor tensor = Tensor::allocate(type, shape);
    NumberFiller filler(tensor, place);
    filler.take(numbers);
    filler.finish();
    return tensor;
  }

  const std::shared_ptr<const RequestBody>& body_;
  std::size_t json_bytes_;
  std::size_t next_;  ///< where the next binary input begins
};

void read_parameters(const dom::object& root, InferRequest& request) {
  const auto parameters = member(root, "parameters");
  if (!parameters) return;
  const dom::object values = object_of(*parameters, "parameters");
  if (const auto binary = member(values, "binary_data_output")) {
    request.outputs_as_binary = truth_of(*binary, "parameters.binary_data_output");
  }
  if (const auto timeout = member(values, "timeout")) {
    const std::int64_t us = integer_of(*timeout, "parameters.timeout");
    constexpr std::int64_t kDay = std::int64_t{86400} * 1'000'000;
    if (us > 0) request.timeout_us = std::min(us, kDay);
  }
}

void read_outputs(const dom::object& root, InferRequest& request) {
  const auto outputs = member(root, "outputs");
  if (!outputs) return;
  for (const dom::element element : array_of(*outputs, "outputs")) {
    const std::size_t i = request.outputs.size();
    require_few(i, "outputs");
    const dom::object object = object_of(element, fmt::format("outputs[{}]", i));
    const auto name = member(object, "name");
    if (!name) throw UsageError(place_of("outputs", i, "name") + ": missing");
    WantedOutput wanted{text_of(*name, place_of("outputs", i, "name")), request.outputs_as_binary};
    if (const auto parameters = member(object, "parameters")) {
      const dom::object values = object_of(*parameters, place_of("outputs", i, "parameters"));
      if (const auto binary = member(values, "binary_data")) {
        wanted.as_binary = truth_of(*binary, place_of("outputs", i, "parameters.binary_data"));
      }
      refuse_shared_memory(values, place_of("outputs", i, "parameters"));
      if (member(values, "classification")) {
        throw UsageError(place_of("outputs", i, "parameters.classification") +
                         ": the classification extension is not served");
      }
    }
    request.outputs.push_back(std::move(wanted));
  }
}

/// The tensors of the response, as the request orders them.
std::vector<std::pair<const NamedTensor*, bool>> chosen_of(const InferRequest& request,
                                                           std::span<const NamedTensor> outputs) {
  std::vector<std::pair<const NamedTensor*, bool>> chosen;
  if (request.outputs.empty()) {
    for (const NamedTensor& output : outputs)
      chosen.emplace_back(&output, request.outputs_as_binary);
    return chosen;
  }
  for (const WantedOutput& wanted : request.outputs) {
    const auto found = std::ranges::find(outputs, wanted.name, &NamedTensor::name);
    if (found != outputs.end()) chosen.emplace_back(&*found, wanted.as_binary);
  }
  return chosen;
}

}  // namespace

RequestBody::RequestBody(std::size_t bytes)
    : bytes_(std::make_unique_for_overwrite<std::byte[]>(bytes + simdjson::SIMDJSON_PADDING)),
      size_(bytes) {}

InferRequest read_infer_request(const std::shared_ptr<const RequestBody>& body,
                                std::size_t json_bytes) {
  if (json_bytes > body->bytes().size()) {
    throw UsageError(fmt::format("Inference-Header-Content-Length: {}, and the body has {} bytes",
                                 json_bytes, body->bytes().size()));
  }
  const KeptParser kept;
  dom::element root;
  const auto* const text = reinterpret_cast<const char*>(body->bytes().data());
  // What follows the JSON, inputs or padding, may be read.
  const auto problem = KeptParser::parser().parse(text, json_bytes, false).get(root);
  if (problem != simdjson::SUCCESS) {
    throw UsageError(std::string("the body is no JSON: ") + simdjson::error_message(problem));
  }
  InferRequest request;
  const dom::object object = object_of(root, "the body");
  if (const auto id = member(object, "id")) request.id = text_of(*id, "id");
  read_parameters(object, request);
  read_outputs(object, request);
  const auto inputs = member(object, "inputs");
  if (!inputs) throw UsageError("inputs: missing");
  InputReader reader(body, json_bytes);
  for (const dom::element element : array_of(*inputs, "inputs")) {
    require_few(request.inputs.size(), "inputs");
    request.inputs.push_back(reader.read(element, request.inputs.size()));
  }
  reader.finish();
  return request;
}

InferResponse write_infer_response(const InferRequest& request, std::string_view name,
                                   std::string_view version, std::span<const NamedTensor> outputs) {
  InferResponse response;
  std::string& json = response.json;
  json += "{\"model_name\":" + json_text(name) + ",\"model_version\":" + json_text(version);
  if (!request.id.empty()) json += ",\"id\":" + json_text(request.id);
  json += ",\"outputs\":[";
  std::string_view between;
  for (const auto& [output, as_binary] : chosen_of(request, outputs)) {
    const std::string_view datatype = datatype_of(output->tensor.dtype());
    if (datatype.empty()) {
      throw UnsupportedError("output '" + output->name + "' is of type " +
                             std::string(name_of(output->tensor.dtype())) +
                             ", which the protocol has no name for");
    }
    fmt::format_to(std::back_inserter(json), "{}{{\"name\":{},\"datatype\":\"{}\",\"shape\":[{}]",
                   between, json_text(output->name), datatype,
                   fmt::join(output->tensor.shape(), ","));
    between = ",";
    if (as_binary) {
      fmt::format_to(std::back_inserter(json), ",\"parameters\":{{\"binary_data_size\":{}}}}}",
                     output->tensor.bytes());
      response.binaries.push_back(output->tensor);
    } else {
      json += ",\"data\":[";
      write_numbers(output->tensor, json);
      json += "]}";
    }
  }
  json += "]}";
  return response;
}

std::string error_json(std::string_view text) { return "{\"error\":" + json_text(text) + "}"; }

std::string json_text(std::string_view text) {
  std::string out = "\"";
  const bool is_text = simdjson::validate_utf8(text.data(), text.size());
  for (const char c : text) {
    if (!is_text && static_cast<unsigned char>(c) >= 0x80) {
      out += '?';
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out += '"';
}

}  // namespace morton::serve
