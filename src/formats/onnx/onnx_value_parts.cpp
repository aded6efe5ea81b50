// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_value_parts.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <utility>

#include "base/error.hpp"
#include "base/list_length.hpp"

namespace morton::formats {
namespace {

using ValueWire = google::protobuf::internal::WireFormatLite;

/// Fields of SequenceProto and OptionalProto (onnx-data.proto): the same numbers mean the same.
/// What stands behind the tensors is sparse, or no tensor.
constexpr int kKindField = 2;
constexpr int kTensorField = 3;
constexpr int kSequenceField = 5;
constexpr int kLastField = 7;
/// Values of the field that says which kind of value follows: none, or that of `kTensorField`. In
/// them the kinds are numbered as in ONNX's text.
constexpr std::uint32_t kNoKind = 0;
constexpr std::uint32_t kTensorKind = 1;
constexpr std::uint32_t kSequenceKind = 3;

/// The parts of one of those messages.
struct ValueParts {
  std::uint32_t kind = kNoKind;
  std::vector<std::string_view> tensors, sequences;
};

using Messages = std::vector<std::string_view>;

class ValueReader {
 public:
  explicit ValueReader(const std::string& where) : where_(where) {}

  std::optional<Messages> read(std::string_view bytes, const ValueForm& form) const {
    if (form.is_optional) return optional_value(bytes, form);
    if (form.is_list) return list(bytes);
    return Messages{bytes};
  }

 private:
  std::optional<Messages> optional_value(std::string_view bytes, const ValueForm& form) const {
    const ValueParts parts = parts_of(bytes, "optional value");
    if (parts.kind != kNoKind && parts.kind != (form.is_list ? kSequenceKind : kTensorKind)) {
      throw ModelError(where_ + ": holds an optional value of kind " + std::to_string(parts.kind) +
                       ", and the model has one of " + (form.is_list ? "lists" : "tensors"));
    }
    const Messages& here = form.is_list ? parts.sequences : parts.tensors;
    if (here.size() > 1 || parts.sequences.size() + parts.tensors.size() > here.size()) {
      throw ModelError(where_ + ": is damaged: an optional value holds several");
    }
    if (here.empty()) return std::nullopt;
    return form.is_list ? list(here.front()) : here;
  }

  [[nodiscard]] Messages list(std::string_view bytes) const {
    ValueParts parts = parts_of(bytes, "list");
    if (parts.kind != kNoKind && parts.kind != kTensorKind) {
      throw UnsupportedError(where_ + ": is a list of kind " + std::to_string(parts.kind) +
                             "; only lists of dense tensors are supported");
    }
    if (!parts.sequences.empty()) throw UnsupportedError(where_ + ": is a list of lists");
    return std::move(parts.tensors);
  }

  /// `what` names the message.
  ValueParts parts_of(std::string_view bytes, const std::string& what) const {
    const auto fail = [&] { return ModelError(where_ + ": not an ONNX " + what); };
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    ValueParts parts;
    while (static_cast<std::size_t>(in.CurrentPosition()) < bytes.size()) {
      const std::uint32_t tag = in.ReadTag();
      const int field = ValueWire::GetTagFieldNumber(tag);
      const bool has_length =
          ValueWire::GetTagWireType(tag) == ValueWire::WIRETYPE_LENGTH_DELIMITED;
      if (tag == 0 || field > kLastField || has_length != (field != kKindField)) throw fail();
      std::uint32_t number = 0;
      if (!in.ReadVarint32(&number)) throw fail();
      if (!has_length) {
        parts.kind = number;
        continue;
      }
      const auto at = static_cast<std::size_t>(in.CurrentPosition());
      if (number > bytes.size() - at || !in.Skip(static_cast<int>(number))) throw fail();
      take(field, bytes.substr(at, number), parts);
    }
    return parts;
  }

  void take(int field, std::string_view bytes, ValueParts& parts) const {
    if (field < kTensorField) return;  // a name
    if (field != kTensorField && field != kSequenceField) {
      throw UnsupportedError(where_ + ": holds a sparse tensor, a map or optional values");
    }
    auto& taken = field == kTensorField ? parts.tensors : parts.sequences;
    taken.push_back(bytes);
    require_list_length(static_cast<std::int64_t>(taken.size()), where_);
  }

  const std::string& where_;
};

}  // namespace

std::optional<std::vector<std::string_view>> tensors_in_value(std::string_view bytes,
                                                              const ValueForm& form,
                                                              const std::string& where) {
  return ValueReader(where).read(bytes, form);
}

}  // namespace morton::formats
