// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "error/cli_program.hpp"
#include "error/hostile_models.hpp"
#include "support/rooms.hpp"

namespace morton::test {

using Ints = std::vector<std::int64_t>;

inline constexpr std::int64_t kHuge = std::int64_t{1} << 62;
inline constexpr std::int64_t kLarge = std::int64_t{1} << 40;
inline constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

/// Gathers hostile models; `part` as in HostileModel.
class Collection {
 public:
  void add(std::string name, std::string part,
           std::function<std::string(const std::filesystem::path& folder)> write) {
    models_.push_back({std::move(name), std::move(part), std::move(write)});
  }
  /// A model of the f32 input "x" with this shape, which `change` spoils.
  void graph(std::string name, std::string part, const Ints& shape,
             std::function<void(onnx::ModelProto&)> change) {
    add(std::move(name), std::move(part), [shape, change](const std::filesystem::path& folder) {
      onnx::ModelProto model = model_with_input(shape);
      change(model);
      return save(model, folder / "model.onnx");
    });
  }
  /// y = op(x, w...) on `shape`, with weights of these shapes, which `change` spoils.
  void node(std::string name, std::string part, const std::string& op, const Ints& shape,
            const std::vector<Ints>& weights, std::function<void(onnx::NodeProto&)> change) {
    graph(std::move(name), std::move(part), shape, [=](onnx::ModelProto& model) {
      std::vector<std::string> inputs{"x"};
      for (std::size_t i = 0; i < weights.size(); ++i) {
        inputs.push_back("w" + std::to_string(i));
        add_weights(model, inputs.back(), weights[i]);
      }
      change(add_node(model, op, inputs, "y"));
    });
  }
  /// y = x + w, where `change` spoils the initializer w.
  void weights(std::string name, std::string part, std::function<void(onnx::TensorProto&)> change) {
    graph(std::move(name), std::move(part), {2, 3}, [change](onnx::ModelProto& model) {
      add_weights(model, "w", {3});
      add_node(model, "Add", {"x", "w"}, "y");
      change(*model.mutable_graph()->mutable_initializer(0));
    });
  }
  /// Likewise with external data; `prepare` makes files in the folder.
  void external(std::string name, std::string part,
                std::vector<std::pair<std::string, std::string>> entries,
                std::function<void(const std::filesystem::path&)> prepare) {
    add(std::move(name), std::move(part), [entries, prepare](const std::filesystem::path& folder) {
      onnx::ModelProto model = model_with_input({2, 3});
      add_weights(model, "w", {3});
      add_node(model, "Add", {"x", "w"}, "y");
      onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
      tensor.clear_float_data();
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      for (const auto& [key, value] : entries) {
        onnx::StringStringEntryProto& entry = *tensor.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
      }
      prepare(folder);
      return save(model, folder / "model.onnx");
    });
  }
  /// A file of these bytes.
  void bytes(std::string name, std::string content) {
    add(std::move(name), "model.onnx", [content](const std::filesystem::path& folder) {
      write_bytes(folder / "model.onnx", content);
      return (folder / "model.onnx").string();
    });
  }
  [[nodiscard]] std::vector<HostileModel> take() { return std::move(models_); }

 private:
  std::vector<HostileModel> models_;
};

/// Adds to a node an attribute without type or value.
onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name);
/// Adds to a node an attribute.
void set(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set(onnx::NodeProto& node, const std::string& name, const Ints& values);
void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value);

/// Adds an i64 vector as a constant.
void add_list(onnx::ModelProto& model, const std::string& name, const Ints& values);

/// Values by name.
using Names = std::vector<std::string>;
/// Adds a node to a graph inside of a node.
onnx::NodeProto& add_inner(onnx::GraphProto& body, const std::string& op, const Names& inputs,
                           const std::string& output);
/// The node's graph of this name, with formal inputs and outputs.
onnx::GraphProto& add_body(onnx::NodeProto& node, const std::string& name, const Names& inputs,
                           const Names& outputs);
/// Adds a constant of truth values: without dimensions where it is one.
void add_truth(onnx::ModelProto& model, const std::string& name, const std::vector<bool>& values);

/// Tensors and their data, inputs, graphs, versions (hostile_models.cpp calls all of them).
void add_external_data(Collection& all);
void add_windows(Collection& all);
void add_operators(Collection& all);
void add_values(Collection& all);
void add_bytes(Collection& all);
void add_places(Collection& all);
void add_trees(Collection& all);
void add_control_flow(Collection& all);
void add_scans_and_lists(Collection& all);
void add_late_extents(Collection& all);

}  // namespace morton::test
