// SPDX-License-Identifier: Apache-2.0
#include "protocol/infer_message.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <morton/error.hpp>
#include <utility>

#include "limits/message_limits.hpp"
#include "protocol/datatypes.hpp"
#include "protocol/input_reader.hpp"
#include "protocol/json_members.hpp"
#include "protocol/json_numbers.hpp"

namespace morton::serve {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kKeptParserBytes = std::size_t{1} << 20;

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

void read_parameters(const dom::object& root, InferRequest& request) {
  const auto parameters = member(root, "parameters");
  if (!parameters) return;
  const dom::object values = object_of(*parameters, "parameters");
  if (const auto binary = member(values, "binary_data_output")) {
    request.outputs_as_binary = truth_of(*binary, "parameters.binary_data_output");
  }
  if (const auto timeout = member(values, "timeout")) {
    const std::int64_t us = integer_of(*timeout, "parameters.timeout");
    if (us > 0) request.timeout_us = std::min(us, kMostTimeoutUs);
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

/// Throws UsageError where it is no object. What follows the JSON, inputs or padding, may be read.
dom::object parsed(const RequestBody& body, std::size_t json_bytes) {
  dom::element root;
  const auto* const text = reinterpret_cast<const char*>(body.bytes().data());
  const auto problem = KeptParser::parser().parse(text, json_bytes, false).get(root);
  if (problem != simdjson::SUCCESS) {
    throw UsageError(std::string("the body is no JSON: ") + simdjson::error_message(problem));
  }
  return object_of(root, "the body");
}

/// A body that says little. Throws UsageError.
dom::object parsed_little(const RequestBody& body) {
  if (body.bytes().size() > kMostLittleBytes) {
    throw UsageError(fmt::format("the body has {} bytes; {} may be sent here", body.bytes().size(),
                                 kMostLittleBytes));
  }
  return parsed(body, body.bytes().size());
}

/// Bytes that are set aside for numbers as JSON, so many for each.
constexpr std::size_t kBytesOfNumber = 12;

}  // namespace

RequestBody::RequestBody(std::size_t bytes)
    : bytes_(std::make_unique_for_overwrite<std::byte[]>(bytes + simdjson::SIMDJSON_PADDING)),
      size_(bytes) {}

InferRequest read_infer_request(const std::shared_ptr<const RequestBody>& body,
                                std::size_t json_bytes, HeldMemory& held) {
  if (json_bytes > body->bytes().size()) {
    throw UsageError(fmt::format("Inference-Header-Content-Length: {}, and the body has {} bytes",
                                 json_bytes, body->bytes().size()));
  }
  const KeptParser kept;
  InferRequest request;
  const dom::object object = parsed(*body, json_bytes);
  if (const auto id = member(object, "id")) request.id = text_of(*id, "id");
  read_parameters(object, request);
  read_outputs(object, request);
  const auto inputs = member(object, "inputs");
  if (!inputs) throw UsageError("inputs: missing");
  InputReader reader(body, json_bytes, held);
  for (const dom::element element : array_of(*inputs, "inputs")) {
    require_few(request.inputs.size(), "inputs");
    request.inputs.push_back(reader.read(element, request.inputs.size()));
  }
  reader.finish();
  return request;
}

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

InferResponse write_infer_response(const InferRequest& request, std::string_view name,
                                   std::string_view version, std::span<const NamedTensor> outputs,
                                   HeldMemory& held) {
  InferResponse response;
  std::string& json = response.json;
  const auto chosen = chosen_of(request, outputs);
  std::size_t expected = 0;
  for (const auto& [output, as_binary] : chosen) {
    const Tensor& tensor = output->tensor;
    expected +=
        as_binary ? tensor.bytes() : static_cast<std::size_t>(tensor.size()) * kBytesOfNumber;
  }
  held.need(expected);
  json += "{\"model_name\":" + json_text(name) + ",\"model_version\":" + json_text(version);
  if (!request.id.empty()) json += ",\"id\":" + json_text(request.id);
  json += ",\"outputs\":[";
  std::string_view between;
  for (const auto& [output, as_binary] : chosen) {
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
  std::size_t bytes = json.capacity();
  for (const Tensor& binary : response.binaries) bytes += binary.bytes();
  if (bytes > expected) held.need(bytes - expected);
  return response;
}

bool read_index_request(const RequestBody& body) {
  if (body.bytes().empty()) return false;
  const KeptParser kept;
  const auto ready = member(parsed_little(body), "ready");
  return ready && truth_of(*ready, "ready");
}

void read_change_request(const RequestBody& body, RepositoryChange change) {
  if (body.bytes().empty()) return;
  const KeptParser kept;
  const auto parameters = member(parsed_little(body), "parameters");
  if (!parameters) return;
  for (const auto field : object_of(*parameters, "parameters")) {
    require_change_parameter(field.key, change);
  }
}

void require_change_parameter(std::string_view name, RepositoryChange change) {
  // No model here depends on another: it is unloaded alone, whatever this one says.
  if (change == RepositoryChange::unload && name == "unload_dependents") return;
  throw UsageError(fmt::format(
      "parameters.{}: not served; a model is loaded as the command line names it", name));
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
