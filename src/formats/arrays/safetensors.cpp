// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "base/numbers/checked.hpp"
#include "base/shape.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::int64_t kMaxSafetensorsHeaderBytes =
    100'000'000;  // as the reference implementation has it
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<DType, std::string_view>, 16> kSafetensorsTypes{{
    {DType::f32, "F32"},
    {DType::f16, "F16"},
    {DType::bf16, "BF16"},
    {DType::f64, "F64"},
    {DType::i8, "I8"},
    {DType::u8, "U8"},
    {DType::i16, "I16"},
    {DType::u16, "U16"},
    {DType::i32, "I32"},
    {DType::u32, "U32"},
    {DType::i64, "I64"},
    {DType::u64, "U64"},
    {DType::boolean, "BOOL"},
    {DType::f8e4m3fn, "F8_E4M3"},
    {DType::f8e5m2, "F8_E5M2"},
    {DType::f8e8m0, "F8_E8M0"},
}};

std::string_view type_text(DType type) {
  for (const auto& [known, text] : kSafetensorsTypes) {
    if (known == type) return text;
  }
  throw UsageError("safetensors: there is no element type for " + std::string(name_of(type)));
}

DType type_of(const JsonReader& json) {
  const std::string text = json.text();
  for (const auto& [type, known] : kSafetensorsTypes) {
    if (known == text) return type;
  }
  throw UnsupportedError(json.where() + ": the element type " + in_quotes(text) +
                         " is none of Morton's");
}

/// A tensor as the header describes it.
struct Described {
  std::string name;
  DType type{};
  Shape shape;
  std::int64_t begin = 0, end = 0;
};

Described described(const std::string& name, const JsonReader& json) {
  json.allow_keys({"dtype", "shape", "data_offsets"});
  Described tensor{name, type_of(json.at("dtype")), json.at("shape").integers()};
  const std::vector<std::int64_t> offsets = json.at("data_offsets").integers();
  if (offsets.size() != 2) json.fail("expected two offsets");
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  const std::int64_t bytes =
      checked_mul(element_count(tensor.shape, json.where().c_str()),
                  static_cast<std::int64_t>(size_of(tensor.type)), json.where().c_str());
  if (tensor.begin < 0 || tensor.end < tensor.begin || tensor.end - tensor.begin != bytes) {
    json.fail("bytes " + std::to_string(tensor.begin) + " to " + std::to_string(tensor.end) +
              " for a shape " + to_string(tensor.shape) + " of " + std::to_string(bytes) +
              " bytes");
  }
  return tensor;
}

std::string_view header_of(std::string_view bytes, const std::string& where) {
  const auto fail = [&](const std::string& why) {
    throw ModelError(where + ": no .safetensors file, or cut short: " + why);
  };
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) fail("it has " + std::to_string(bytes.size()) + " bytes");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > static_cast<std::uint64_t>(kMaxSafetensorsHeaderBytes) ||
      length > bytes.size() - kLengthBytes) {
    fail("its header says that it has " + std::to_string(length) + " bytes");
  }
  return bytes.substr(kLengthBytes, static_cast<std::size_t>(length));
}

}  // namespace

SafeTensors read_safetensors(const std::filesystem::path& path) {
  const InputFile file(path);
  return parse_safetensors(MappedFile(file).bytes(), file.where());
}

SafeTensors parse_safetensors(std::string_view bytes, const std::string& where) {
  const std::string_view header = header_of(bytes, where);
  const Json json = parse_json(header, where);
  if (!json.is_object()) throw ModelError(where + ": expected a header that is an object");
  SafeTensors result;
  std::vector<Described> tensors;
  for (const auto& [name, member] : JsonReader(json, where).members()) {
    if (name != kMetadata) {
      tensors.push_back(described(name, member));
      continue;
    }
    for (const auto& [key, text] : member.members()) result.texts[key] = text.text();
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const Described& a, const Described& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const std::string_view data = bytes.substr(kLengthBytes + header.size());
  std::int64_t at = 0;
  for (const Described& tensor : tensors) {
    if (tensor.begin != at || tensor.end > static_cast<std::int64_t>(data.size())) {
      throw ModelError(where + ": " + in_quotes(tensor.name) + ": expected its bytes from " +
                       std::to_string(at) + " to " + std::to_string(data.size()) +
                       " at most, got " + std::to_string(tensor.begin) + " to " +
                       std::to_string(tensor.end));
    }
    Tensor value = Tensor::allocate(tensor.type, tensor.shape);
    if (value.bytes() > 0) std::memcpy(value.mutable_data(), data.data() + at, value.bytes());
    result.tensors.push_back({tensor.name, std::move(value)});
    at = tensor.end;
  }
  if (at != static_cast<std::int64_t>(data.size())) {
    throw ModelError(where + ": " + std::to_string(static_cast<std::int64_t>(data.size()) - at) +
                     " bytes are left over behind the last tensor");
  }
  return result;
}

std::string safetensors_header(std::span<const NamedTensor> tensors,
                               const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  if (!texts.empty()) json[std::string(kMetadata)] = texts;
  std::size_t at = 0;
  for (const NamedTensor& named : tensors) {
    if (named.name == kMetadata || json.contains(named.name)) {
      throw UsageError("safetensors: a file cannot hold a tensor named " + in_quotes(named.name) +
                       ": kept for texts, or there already");
    }
    const Tensor& tensor = named.tensor;
    json[named.name] = {{"dtype", type_text(tensor.dtype())},
                        {"shape", tensor.shape()},
                        {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const Json::exception&) {
    throw UsageError("safetensors: names and texts must be UTF-8");
  }
  // The data begin at a multiple of 8 bytes.
  text.resize(static_cast<std::size_t>(round_up(static_cast<std::int64_t>(text.size()), 8)), ' ');
  const std::uint64_t length = text.size();
  if (length > static_cast<std::uint64_t>(kMaxSafetensorsHeaderBytes)) {
    throw UsageError("safetensors: the names and shapes of " + std::to_string(tensors.size()) +
                     " tensors and the texts take " + std::to_string(length) +
                     " bytes; a file has room for " + std::to_string(kMaxSafetensorsHeaderBytes));
  }
  std::string header(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, kLengthBytes);
  return header + text;
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& texts) {
  const std::string header = safetensors_header(tensors, texts);
  std::vector<std::string_view> parts{header};
  for (const NamedTensor& named : tensors) {
    parts.emplace_back(reinterpret_cast<const char*>(named.tensor.data()), named.tensor.bytes());
  }
  write_file_atomically(path, parts);
}

}  // namespace morton::formats
