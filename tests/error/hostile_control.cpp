// SPDX-License-Identifier: Apache-2.0
//
// Conditions and loops that cannot be, or that nobody can wait for.
#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

void add_branches(onnx::NodeProto& node, const std::string& value) {
  add_inner(add_body(node, "then_branch", {}, {"a"}), "Relu", {value}, "a");
  add_inner(add_body(node, "else_branch", {}, {"b"}), "Neg", {value}, "b");
}

void add_conditions(Collection& all) {
  const auto branch = [&](const std::string& name, const std::string& part, auto change) {
    all.graph("if: " + name, part, {2, 3}, [change](auto& model) {
      add_truth(model, "yes", {true});
      change(model, add_node(model, "If", {"yes"}, "y"));
    });
  };
  branch("no branches", "node_y", [](auto&, auto&) {});
  branch("one branch", "node_y", [](auto&, auto& node) {
    add_inner(add_body(node, "then_branch", {}, {"a"}), "Relu", {"x"}, "a");
  });
  branch("a branch twice", "then_branch is given twice", [](auto&, auto& node) {
    for (int i = 0; i < 2; ++i) add_branches(node, "x");
  });
  branch("branches of other names", "node_y", [](auto&, auto& node) {
    add_inner(add_body(node, "left", {}, {"a"}), "Relu", {"x"}, "a");
    add_inner(add_body(node, "right", {}, {"b"}), "Neg", {"x"}, "b");
  });
  branch("branches with inputs", "its branches have inputs", [](auto&, auto& node) {
    add_inner(add_body(node, "then_branch", {"p"}, {"a"}), "Relu", {"p"}, "a");
    add_inner(add_body(node, "else_branch", {"q"}, {"b"}), "Neg", {"q"}, "b");
  });
  branch("branches of one and two results", "its branches give 2 and 1 results",
         [](auto&, auto& node) {
           auto& then = add_body(node, "then_branch", {}, {"a", "c"});
           add_inner(then, "Relu", {"x"}, "a");
           add_inner(then, "Relu", {"x"}, "c");
           add_inner(add_body(node, "else_branch", {}, {"b"}), "Neg", {"x"}, "b");
         });
  branch("a branch that reads what nobody computes", "nothing computes its input 'nothing'",
         [](auto&, auto& node) { add_branches(node, "nothing"); });
  branch("a branch whose result nobody computes", "nothing computes the output 'c'",
         [](auto&, auto& node) {
           add_inner(add_body(node, "then_branch", {}, {"c"}), "Relu", {"x"}, "a");
           add_inner(add_body(node, "else_branch", {}, {"b"}), "Neg", {"x"}, "b");
         });
  branch("a branch in a circle", "then_branch", [](auto&, auto& node) {
    auto& then = add_body(node, "then_branch", {}, {"a"});
    add_inner(then, "Relu", {"c"}, "a");
    add_inner(then, "Relu", {"a"}, "c");
    add_inner(add_body(node, "else_branch", {}, {"b"}), "Neg", {"x"}, "b");
  });
  branch("a branch that reads the result", "form a cycle",
         [](auto&, auto& node) { add_branches(node, "y"); });
  branch("a branch with an unknown operator", "Frobnicate", [](auto&, auto& node) {
    add_inner(add_body(node, "then_branch", {}, {"a"}), "Frobnicate", {"x"}, "a");
    add_inner(add_body(node, "else_branch", {}, {"b"}), "Neg", {"x"}, "b");
  });
  branch("a branch as text", "node_y", [](auto&, auto& node) {
    set_text(node, "then_branch", "Relu");
    set_text(node, "else_branch", "Neg");
  });
  branch("a list of graphs", "holds a list of graphs", [](auto&, auto& node) {
    attribute(node, "then_branch").set_type(onnx::AttributeProto::GRAPHS);
  });
  branch("an attribute", "node_y", [](auto&, auto& node) {
    add_branches(node, "x");
    set(node, "axis", 1);
  });
  branch("a condition of two", "its condition has 2 values", [](auto& model, auto& node) {
    add_truth(model, "both", {true, false});
    *node.mutable_input(0) = "both";
    add_branches(node, "x");
  });
  branch("a condition that is data, results of two shapes", "follows from data",
         [](auto& model, auto& node) {
           add_weights(model, "w", {3, 3});
           auto& graph = *model.mutable_graph();
           add_inner(graph, "ReduceMax", {"x"}, "most");
           add_inner(graph, "IsNaN", {"most"}, "late");
           *node.mutable_input(0) = "late";
           add_inner(add_body(node, "then_branch", {}, {"a"}), "Relu", {"x"}, "a");
           add_inner(add_body(node, "else_branch", {}, {"b"}), "Transpose", {"x"}, "b");
         });
  branch("branches within branches, a hundred deep", "model.onnx", [](auto&, auto& node) {
    onnx::NodeProto* at = &node;
    for (int depth = 0; depth < 100; ++depth) {
      const std::string name = "v" + std::to_string(depth);
      auto& then = add_body(*at, "then_branch", {}, {name});
      add_inner(add_body(*at, "else_branch", {}, {"b"}), "Neg", {"x"}, "b");
      at = &add_inner(then, "If", {"yes"}, name);
    }
  });
}

/// A loop over the state s, which begins as x; `turn` writes its body.
template <typename Turn>
void add_loop(Collection& all, const std::string& name, const std::string& part, std::int64_t most,
              Turn turn) {
  all.graph("loop: " + name, part, {2, 3}, [most, turn](onnx::ModelProto& model) {
    add_list(model, "most", {most});
    onnx::NodeProto& node = add_node(model, "Loop", {"most", "", "x"}, "y");
    turn(node);
  });
}

void add_loops(Collection& all) {
  const auto same = [](onnx::NodeProto& node, const std::string& op, const Names& inputs) {
    auto& body = add_body(node, "body", {"i", "c", "s"}, {"d", "t"});
    add_inner(body, "Identity", {"c"}, "d");
    return &add_inner(body, op, inputs, "t");
  };
  add_loop(all, "no body", "node_y", 3, [](auto&) {});
  add_loop(all, "a body of one input", "node_y", 3,
           [](auto& node) { add_inner(add_body(node, "body", {"i"}, {"t"}), "Neg", {"i"}, "t"); });
  add_loop(all, "a body without the state", "node_y", 3, [](auto& node) {
    add_inner(add_body(node, "body", {"i", "c"}, {"d"}), "Identity", {"c"}, "d");
  });
  add_loop(all, "a body that gives no state", "node_y", 3, [](auto& node) {
    add_inner(add_body(node, "body", {"i", "c", "s"}, {"d"}), "Identity", {"c"}, "d");
  });
  add_loop(all, "2^62 turns", "turns", kHuge, [=](auto& node) { same(node, "Neg", {"s"}); });
  add_loop(all, "a state that doubles", "", kHuge, [=](auto& node) {
    set(*same(node, "Concat", {"s", "s"}), "axis", 0);
  });
  add_loop(all, "a state that doubles its digits", "", 64, [=](auto& node) {
    set(*same(node, "Concat", {"s", "s"}), "axis", 1);
  });
  add_loop(all, "a body that does not fit the state", "", 3, [=](auto& node) {
    same(node, "MatMul", {"s", "s"});
  });
  add_loop(all, "an unknown operator inside", "Frobnicate", 3,
           [=](auto& node) { same(node, "Frobnicate", {"s"}); });
  add_loop(all, "a body that reads what nobody computes", "'nothing'", 3,
           [=](auto& node) { same(node, "Neg", {"nothing"}); });
  add_loop(all, "a body that reads the loop's result", "form a cycle", 3,
           [=](auto& node) { same(node, "Neg", {"y"}); });
  add_loop(all, "a condition that is data", "follows from data", 3, [](auto& node) {
    auto& body = add_body(node, "body", {"i", "c", "s"}, {"d", "t"});
    add_inner(body, "Neg", {"s"}, "t");
    add_inner(body, "ReduceMax", {"t"}, "most_of_all");
    add_inner(body, "IsNaN", {"most_of_all"}, "d");
  });
  add_loop(all, "loops within loops", "turns", 9000, [=](auto& node) {
    auto& body = add_body(node, "body", {"i", "c", "s"}, {"d", "t"});
    add_inner(body, "Identity", {"c"}, "d");
    same(add_inner(body, "Loop", {"most", "", "s"}, "t"), "Neg", {"s"});
  });
  all.graph("loop: no end", "turns", {2, 3}, [=](auto& model) {
    add_truth(model, "yes", {true});
    same(add_node(model, "Loop", {"", "yes", "x"}, "y"), "Neg", {"s"});
  });
  all.graph("loop: two numbers of turns", "node_y", {2, 3}, [=](auto& model) {
    add_list(model, "most", {3, 4});
    same(add_node(model, "Loop", {"most", "", "x"}, "y"), "Neg", {"s"});
  });
  all.graph("loop: a number of turns in f32", "node_y", {2, 3}, [=](auto& model) {
    add_weights(model, "most", {1});
    same(add_node(model, "Loop", {"most", "", "x"}, "y"), "Neg", {"s"});
  });
  all.graph("loop: no turn, and results of turns", "takes no turn", {2, 3}, [](auto& model) {
    add_list(model, "most", {0});
    auto& body =
        add_body(add_node(model, "Loop", {"most", ""}, "y"), "body", {"i", "c"}, {"d", "t"});
    add_inner(body, "Identity", {"c"}, "d");
    add_inner(body, "Neg", {"x"}, "t");
  });
}

}  // namespace

onnx::NodeProto& add_inner(onnx::GraphProto& body, const std::string& op, const Names& inputs,
                           const std::string& output) {
  onnx::NodeProto& node = *body.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

onnx::GraphProto& add_body(onnx::NodeProto& node, const std::string& name, const Names& inputs,
                           const Names& outputs) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& body = *attribute.mutable_g();
  body.set_name(name);
  for (const std::string& input : inputs) body.add_input()->set_name(input);
  for (const std::string& output : outputs) body.add_output()->set_name(output);
  return body;
}

void add_truth(onnx::ModelProto& model, const std::string& name, const std::vector<bool>& values) {
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::BOOL);
  if (values.size() != 1) tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const bool value : values) tensor.add_int32_data(value ? 1 : 0);
}

void add_control_flow(Collection& all) {
  add_conditions(all);
  add_loops(all);
}

}  // namespace morton::test
