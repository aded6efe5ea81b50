// SPDX-License-Identifier: Apache-2.0
//
// Extents that a run finds out, asked for by what cannot be, and read by what has no rule for them.
#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

void newest(onnx::ModelProto& model) { model.mutable_opset_import(0)->set_version(17); }

void add_finders(Collection& all) {
  const auto finder = [&](const std::string& name, const std::string& part, const Ints& shape,
                          auto change) {
    all.graph("late: " + name, part, shape, [change](auto& model) {
      newest(model);
      change(model);
    });
  };
  finder("NonZero of two million", "at most 1000000", {2000, 1000},
         [](auto& model) { add_node(model, "NonZero", {"x"}, "y"); });
  finder("a condition of numbers", "list of truths", {2, 3}, [](auto& model) {
    add_weights(model, "w", {3});
    add_node(model, "Compress", {"x", "w"}, "y");
  });
  const auto compress = [&](const std::string& name, const std::string& part, std::size_t truths,
                            auto change) {
    finder(name, part, {2, 3}, [truths, change](auto& model) {
      add_truth(model, "c", std::vector<bool>(truths, true));
      change(add_node(model, "Compress", {"x", "c"}, "y"));
    });
  };
  compress("a condition that is too long", "7 truths", 7, [](auto&) {});
  compress("a condition longer than the axis", "3 truths", 3,
           [](auto& node) { set(node, "axis", std::int64_t{0}); });
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, kHuge, kLeast}) {
    compress("Compress along " + std::to_string(axis), "node_y", 2,
             [axis](auto& node) { set(node, "axis", axis); });
    finder("Unique along " + std::to_string(axis), "node_y", {2, 3},
           [axis](auto& model) { set(add_node(model, "Unique", {"x"}, "y"), "axis", axis); });
  }
  finder("Unique neither sorted nor not", "sorted", {2, 3}, [](auto& model) {
    set(add_node(model, "Unique", {"x"}, "y"), "sorted", std::int64_t{2});
  });
  finder("Unique of many rows", "too much", {9000, 9},
         [](auto& model) { set(add_node(model, "Unique", {"x"}, "y"), "axis", std::int64_t{0}); });
  finder("Unique of two million", "at most 1000000", {2000, 1000},
         [](auto& model) { add_node(model, "Unique", {"x"}, "y"); });
}

void add_boxes(Collection& all) {
  const auto boxes = [&](const std::string& name, const std::string& part, const Ints& shape,
                         const Ints& scores, auto change) {
    all.graph("late: boxes, " + name, part, shape, [scores, change](auto& model) {
      newest(model);
      add_weights(model, "scores", scores);
      add_list(model, "most", {5});
      change(model, add_node(model, "NonMaxSuppression", {"x", "scores", "most"}, "y"));
    });
  };
  const auto nothing = [](auto&, auto&) {};
  boxes("a matrix", "batch x boxes x 4", {6, 4}, {1, 1, 6}, nothing);
  boxes("of three numbers", "batch x boxes x 4", {1, 6, 3}, {1, 1, 6}, nothing);
  boxes("of another batch", "batch x boxes x 4", {2, 6, 4}, {1, 1, 6}, nothing);
  boxes("fewer than scores", "batch x boxes x 4", {1, 6, 4}, {1, 1, 7}, nothing);
  boxes("of a third form", "center_point_box", {1, 6, 4}, {1, 1, 6},
        [](auto&, auto& node) { set(node, "center_point_box", std::int64_t{2}); });
  boxes("two numbers at most", "node_y", {1, 6, 4}, {1, 1, 6}, [](auto& model, auto& node) {
    add_list(model, "two", {1, 2});
    node.set_input(2, "two");
  });
  boxes("two thresholds", "node_y", {1, 6, 4}, {1, 1, 6}, [](auto& model, auto& node) {
    add_weights(model, "two", {2});
    node.add_input("two");
  });
  boxes("without scores", "node_y", {1, 6, 4}, {1, 1, 6}, [](auto&, auto& node) {
    node.clear_input();
    node.add_input("x");
  });
  boxes("too many", "at most 1000000", {1, 2000, 4}, {1, 600, 2000}, [](auto& model, auto& node) {
    add_list(model, "all", {2000});
    node.set_input(2, "all");
  });
}

/// y = op of r, the rows of x that a condition on x chooses.
void add_readers(Collection& all) {
  const auto reader = [&](const std::string& name, const std::string& part, auto change) {
    all.graph("late: " + name, part, {4, 3}, [change](auto& model) {
      newest(model);
      add_weights(model, "zero", {1});
      onnx::NodeProto& most = add_node(model, "ReduceMax", {"x"}, "m");
      set(most, "axes", Ints{1});
      set(most, "keepdims", std::int64_t{0});
      add_node(model, "Greater", {"m", "zero"}, "g");
      set(add_node(model, "Compress", {"x", "g"}, "r"), "axis", std::int64_t{0});
      change(model);
    });
  };
  reader("rows of two counts added", "node_y", [](auto& model) {
    add_node(model, "Less", {"m", "zero"}, "l");
    set(add_node(model, "Compress", {"x", "l"}, "s"), "axis", std::int64_t{0});
    add_node(model, "Add", {"r", "s"}, "y");
  });
  reader("rows added to all rows", "node_y", [](auto& model) {
    add_node(model, "Add", {"r", "x"}, "y");
  });
  reader("rows joined with columns of all", "node_y", [](auto& model) {
    set(add_node(model, "Concat", {"r", "x"}, "y"), "axis", std::int64_t{1});
  });
  reader("every second row", "every few elements", [](auto& model) {
    add_list(model, "from", {0});
    add_list(model, "to", {4});
    add_list(model, "two", {2});
    add_node(model, "Slice", {"r", "from", "to", "from", "two"}, "y");
  });
  reader("rows in threes", "node_y", [](auto& model) {
    add_list(model, "shape", {-1, 7});
    add_node(model, "Reshape", {"r", "shape"}, "y");
  });
  reader("two numbers of the greatest", "node_y", [](auto& model) {
    add_list(model, "k", {1, 2});
    set(add_node(model, "TopK", {"r", "k"}, "y"), "axis", std::int64_t{0});
  });
  reader("a Loop of as many turns", "node_y", [](auto& model) {
    add_node(model, "Shape", {"r"}, "shape");
    add_list(model, "first", {0});
    add_node(model, "Gather", {"shape", "first"}, "n");
    onnx::NodeProto& node = add_node(model, "Loop", {"n", "", "x"}, "y");
    onnx::GraphProto& body = add_body(node, "body", {"i", "c", "v"}, {"c2", "w"});
    add_inner(body, "Identity", {"c"}, "c2");
    add_inner(body, "Neg", {"v"}, "w");
  });
  reader("rows as the shape of what has no such", "node_y", [](auto& model) {
    add_node(model, "Shape", {"r"}, "shape");
    add_node(model, "Reshape", {"x", "shape"}, "y");
  });
  reader("changed in places", "node_y", [](auto& model) {
    add_list(model, "where", {0});
    add_weights(model, "what", {1, 3});
    add_node(model, "Reshape", {"where", "shape2"}, "at");
    add_list(model, "shape2", {1, 1});
    add_node(model, "ScatterND", {"r", "at", "what"}, "y");
  });
}

}  // namespace

void add_late_extents(Collection& all) {
  add_finders(all);
  add_boxes(all);
  add_readers(all);
}

}  // namespace morton::test
