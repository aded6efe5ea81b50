// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_functions.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "formats/quotes.hpp"

namespace morton::formats {
namespace {

using FunctionName = std::pair<std::string, std::string>;  ///< domain and name

std::string domain_or_default(const std::string& domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

/// The function's attributes that have defaults: a field that ONNX 1.13 added, which the messages
/// of older libraries keep as it stands in the file.
std::vector<onnx::AttributeProto> defaults_of(const onnx::FunctionProto& function,
                                              const std::string& here) {
  using Wire = google::protobuf::internal::WireFormatLite;
  constexpr std::uint32_t kTag = (11U << 3U) | Wire::WIRETYPE_LENGTH_DELIMITED;
  std::vector<onnx::AttributeProto> defaults;
  const std::string& rest = function.unknown_fields();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(rest.data()),
                                            static_cast<int>(rest.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    std::string bytes;
    if (tag != kTag) {
      if (!Wire::SkipField(&in, tag)) throw ModelError(here + ": is damaged");
    } else if (!Wire::ReadBytes(&in, &bytes) || !defaults.emplace_back().ParseFromString(bytes)) {
      throw ModelError(here + ": a default of its attributes is damaged");
    }
  }
  return defaults;
}

}  // namespace

/// Writes out the calls of one graph.
class Inliner {
 public:
  Inliner(FunctionCalls& calls, const std::string& where,
          std::vector<const onnx::FunctionProto*> open)
      : calls_(calls), where_(where), open_(std::move(open)) {}

  void add(onnx::NodeProto node, std::int64_t opset) {
    const FunctionName name{domain_or_default(node.domain()), node.op_type()};
    const auto called = calls_.functions_.find(name);
    if (called != calls_.functions_.end()) {
      call(*called->second, node);
      return;
    }
    calls_.budget_.take_node(where_);
    nodes_.push_back({std::move(node), opset, open_});
  }

  [[nodiscard]] std::vector<WrittenNode> take() { return std::move(nodes_); }

 private:
  using Names = std::map<std::string, std::string>;

  [[nodiscard]] std::string here(const onnx::FunctionProto& function) const {
    return where_ + ": function " + in_quotes(function.name());
  }

  void call(const onnx::FunctionProto& function, const onnx::NodeProto& node) {
    if (std::ranges::find(open_, &function) != open_.end()) {
      throw ModelError(here(function) + ": calls itself");
    }
    open_.push_back(&function);
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
      throw ModelError(here(function) + ": is called with " + std::to_string(node.input_size()) +
                       " inputs and " + std::to_string(node.output_size()) +
                       " outputs; it declares " + std::to_string(function.input_size()) + " and " +
                       std::to_string(function.output_size()));
    }
    const std::string prefix = (node.name().empty() ? function.name() : node.name()) + "/" +
                               std::to_string(calls_.calls_++);
    Names names = ports_of(function, node);
    const auto defaults = defaults_of(function, here(function));
    for (const onnx::NodeProto& inner : function.node()) {
      onnx::NodeProto written = inner;
      written.set_name(prefix + "/" + (inner.name().empty() ? inner.op_type() : inner.name()));
      for (std::string& value : *written.mutable_input()) value = renamed(names, prefix, value);
      for (std::string& value : *written.mutable_output()) value = renamed(names, prefix, value);
      // Graphs that the call gives read values of the outside: they are bound behind.
      rename_in_bodies(names, prefix, written);
      bind_attributes(defaults, node, written);
      add(std::move(written), opset_of(function));
    }
    require_outputs(function, node);
    open_.pop_back();
  }

  /// What the function's inputs and outputs are in the graph; those that the call leaves out are
  /// absent.
  static Names ports_of(const onnx::FunctionProto& function, const onnx::NodeProto& node) {
    Names names;
    for (int i = 0; i < function.input_size(); ++i) {
      names[function.input(i)] = i < node.input_size() ? node.input(i) : std::string();
    }
    for (int i = 0; i < function.output_size(); ++i) {
      if (i < node.output_size() && !node.output(i).empty()) {
        names[function.output(i)] = node.output(i);
      }
    }
    return names;
  }

  static std::string renamed(Names& names, const std::string& prefix, const std::string& value) {
    if (value.empty()) return value;
    return names.emplace(value, prefix + "/" + value).first->second;
  }

  /// Bodies read values of the function by their names, which are others now.
  static void rename_in_bodies(const Names& names, const std::string& prefix,
                               onnx::NodeProto& node) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.type() == onnx::AttributeProto::GRAPH) {
        rename_in(names, prefix, *attribute.mutable_g());
      }
    }
  }

  /// The body's own values are named after the call too: a value of the outside may have their
  /// name.
  static void rename_in(Names names, const std::string& prefix, onnx::GraphProto& body) {
    const auto own = [&](const std::string& value) {
      return value.empty() ? value : names[value] = prefix + "/" + value;
    };
    for (onnx::ValueInfoProto& input : *body.mutable_input()) input.set_name(own(input.name()));
    for (onnx::TensorProto& constant : *body.mutable_initializer()) {
      constant.set_name(own(constant.name()));
    }
    for (onnx::NodeProto& node : *body.mutable_node()) {
      for (std::string& output : *node.mutable_output()) output = own(output);
    }
    for (onnx::NodeProto& node : *body.mutable_node()) {
      for (std::string& value : *node.mutable_input()) value = renamed(names, prefix, value);
      rename_in_bodies(names, prefix, node);
    }
    for (onnx::ValueInfoProto& output : *body.mutable_output()) {
      output.set_name(renamed(names, prefix, output.name()));
    }
  }

  void require_outputs(const onnx::FunctionProto& function, const onnx::NodeProto& node) const {
    std::set<std::string> made;
    for (const onnx::NodeProto& inner : function.node()) {
      made.insert(inner.output().begin(), inner.output().end());
    }
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty() || made.contains(function.output(i))) continue;
      throw ModelError(here(function) + ": computes no output " + in_quotes(function.output(i)));
    }
  }

  /// Attributes that refer to those of the function take the call's values.
  static void bind_attributes(const std::vector<onnx::AttributeProto>& defaults,
                              const onnx::NodeProto& node, onnx::NodeProto& written) {
    const auto given = [&](const std::string& name) -> const onnx::AttributeProto* {
      for (const onnx::AttributeProto& one : node.attribute()) {
        if (one.name() == name) return &one;
      }
      for (const onnx::AttributeProto& one : defaults) {
        if (one.name() == name) return &one;
      }
      return nullptr;
    };
    auto& attributes = *written.mutable_attribute();
    for (int i = attributes.size(); i-- > 0;) {
      if (attributes.Get(i).type() == onnx::AttributeProto::GRAPH) {
        auto& inside = *attributes.Mutable(i)->mutable_g()->mutable_node();
        for (onnx::NodeProto& inner : inside) bind_attributes(defaults, node, inner);
      }
      const std::string name = attributes.Get(i).name();
      const std::string referred = attributes.Get(i).ref_attr_name();
      if (referred.empty()) continue;
      if (const onnx::AttributeProto* value = given(referred)) {
        attributes.Mutable(i)->CopyFrom(*value);
        attributes.Mutable(i)->set_name(name);
      } else {
        attributes.DeleteSubrange(i, 1);
      }
    }
  }

  static std::int64_t opset_of(const onnx::FunctionProto& function) {
    for (const onnx::OperatorSetIdProto& import : function.opset_import()) {
      if (domain_or_default(import.domain()).empty()) return import.version();
    }
    return 0;
  }

  FunctionCalls& calls_;
  const std::string& where_;
  std::vector<const onnx::FunctionProto*> open_;  ///< those that are being written out
  std::vector<WrittenNode> nodes_;
};

FunctionCalls::FunctionCalls(const onnx::ModelProto& model, const std::string& where,
                             LoadBudget& budget)
    : budget_(budget) {
  for (const onnx::FunctionProto& function : model.functions()) {
    const FunctionName name{domain_or_default(function.domain()), function.name()};
    if (!functions_.emplace(name, &function).second) {
      throw ModelError(where + ": the function " + in_quotes(function.name()) +
                       " is defined twice");
    }
  }
}

std::vector<WrittenNode> FunctionCalls::nodes_of(
    onnx::GraphProto& graph, const std::string& where,
    const std::vector<const onnx::FunctionProto*>& open) {
  Inliner inliner(*this, where, open);
  for (onnx::NodeProto& node : *graph.mutable_node()) inliner.add(std::move(node), 0);
  return inliner.take();
}

}  // namespace morton::formats
