// SPDX-License-Identifier: Apache-2.0
//
// Ensembles of trees and other classical models whose lists contradict each other.
#include <map>

#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Reals = std::vector<float>;
using Texts = std::vector<std::string>;

/// What the attributes of a node are, by name.
struct Lists {
  std::map<std::string, Ints> ints;
  std::map<std::string, Reals> reals;
  std::map<std::string, Texts> texts;
  std::map<std::string, std::string> text;
  std::map<std::string, std::int64_t> number;
};

void set_lists(onnx::NodeProto& node, const Lists& lists) {
  for (const auto& [name, values] : lists.ints) set(node, name, values);
  for (const auto& [name, value] : lists.number) set(node, name, value);
  for (const auto& [name, value] : lists.text) set_text(node, name, value);
  for (const auto& [name, values] : lists.reals) {
    onnx::AttributeProto& proto = attribute(node, name);
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (const float value : values) proto.add_floats(value);
  }
  for (const auto& [name, values] : lists.texts) {
    onnx::AttributeProto& proto = attribute(node, name);
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) proto.add_strings(value);
  }
}

using Change = std::function<void(Lists&)>;

/// A node of ai.onnx.ml over x [2, 3] with these lists, which `change` spoils.
void classical(Collection& all, const std::string& op, const std::string& name,
               const std::string& part, Lists lists, const Change& change,
               const Ints& shape = {2, 3}) {
  change(lists);
  all.graph(op + ": " + name, part, shape, [op, lists](onnx::ModelProto& model) {
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(op == "TreeEnsemble" ? 5 : 3);
    onnx::NodeProto& node = add_node(model, op, {"x"}, "y");
    node.set_domain("ai.onnx.ml");
    set_lists(node, lists);
  });
}

/// Two trees; the first has a root and two leaves, the second is a leaf.
Lists two_trees(const std::string& votes) {
  Lists lists;
  lists.ints = {{"nodes_treeids", {0, 0, 0, 1}},      {"nodes_nodeids", {0, 1, 2, 0}},
                {"nodes_featureids", {1, 0, 0, 0}},   {"nodes_truenodeids", {1, 0, 0, 0}},
                {"nodes_falsenodeids", {2, 0, 0, 0}}, {votes + "_treeids", {0, 0, 1}},
                {votes + "_nodeids", {1, 2, 0}},      {votes + "_ids", {0, 0, 0}}};
  lists.reals = {{"nodes_values", {0.5F, 0, 0, 0}}, {votes + "_weights", {1, 2, 3}}};
  lists.texts = {{"nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"}}};
  if (votes == "target") lists.number = {{"n_targets", 1}};
  if (votes == "class") lists.ints["classlabels_int64s"] = {7, 8};
  return lists;
}

void add_regressors(Collection& all) {
  const auto tree = [&](const std::string& name, const std::string& part, const Change& change) {
    classical(all, "TreeEnsembleRegressor", name, part, two_trees("target"), change);
  };
  const auto entry = [&](const std::string& name, const std::string& part, const std::string& list,
                         std::size_t at, std::int64_t value) {
    tree(name, part, [=](Lists& lists) { lists.ints.at(list).at(at) = value; });
  };
  entry("a child that is its own parent", "cycle", "nodes_truenodeids", 0, 0);
  tree("two nodes that lead to each other", "cycle", [](Lists& lists) {
    lists.texts["nodes_modes"][1] = "BRANCH_LT";
    lists.ints["nodes_truenodeids"][1] = 0;
    lists.ints["nodes_falsenodeids"][1] = 2;
  });
  entry("a child beyond the tree", "child 3", "nodes_truenodeids", 0, 3);
  entry("a child below zero", "child -1", "nodes_falsenodeids", 0, -1);
  entry("a child of 2^62", "child", "nodes_falsenodeids", 0, kHuge);
  entry("a child of the least integer", "child", "nodes_truenodeids", 0, kLeast);
  entry("a feature beyond the input", "feature 3", "nodes_featureids", 0, 3);
  entry("a feature below zero", "feature -1", "nodes_featureids", 0, -1);
  entry("a feature of 2^62", "feature", "nodes_featureids", 0, kHuge);
  entry("a node given twice", "twice", "nodes_nodeids", 2, 1);
  entry("a child that another number has", "does not exist", "nodes_nodeids", 1, 5);
  entry("a node number of the least integer", "does not exist", "nodes_nodeids", 2, kLeast);
  entry("a vote in no tree", "does not exist", "target_treeids", 2, 9);
  entry("a vote of no node", "does not exist", "target_nodeids", 0, 3);
  entry("a vote of a node below zero", "does not exist", "target_nodeids", 0, -1);
  entry("a vote for a target too high", "target_ids", "target_ids", 1, 1);
  entry("a vote for a target below zero", "target_ids", "target_ids", 1, -1);
  entry("a vote for target 2^62", "target_ids", "target_ids", 1, kHuge);
  for (const char* list : {"nodes_nodeids", "nodes_featureids", "nodes_truenodeids",
                           "nodes_falsenodeids", "target_nodeids", "target_ids"}) {
    tree(std::string("a short list ") + list, list,
         [list](Lists& lists) { lists.ints[list].pop_back(); });
  }
  for (const char* list : {"nodes_values", "target_weights"}) {
    tree(std::string("a long list ") + list, list,
         [list](Lists& lists) { lists.reals[list].push_back(1); });
    tree(std::string("no list ") + list, list, [list](Lists& lists) { lists.reals.erase(list); });
  }
  tree("a short list of modes", "nodes_modes",
       [](Lists& lists) { lists.texts["nodes_modes"].pop_back(); });
  tree("a mode that is none", "mode of node 0",
       [](Lists& lists) { lists.texts["nodes_modes"][0] = "BRANCH_MAYBE"; });
  tree("a mode of a megabyte", "mode of node 0",
       [](Lists& lists) { lists.texts["nodes_modes"][0] = std::string(1 << 20, 'x'); });
  tree("a mode of the newer form", "BRANCH_MEMBER",
       [](Lists& lists) { lists.texts["nodes_modes"][0] = "BRANCH_MEMBER"; });
  tree("no trees", "no trees", [](Lists& lists) { lists = {}; });
  tree("a short list of missing values", "nodes_missing_value_tracks_true",
       [](Lists& lists) { lists.ints["nodes_missing_value_tracks_true"] = {1}; });
  tree("no targets", "targets", [](Lists& lists) { lists.number["n_targets"] = 0; });
  tree("targets below zero", "targets", [](Lists& lists) { lists.number["n_targets"] = -4; });
  tree("2^62 targets", "targets", [](Lists& lists) { lists.number["n_targets"] = kHuge; });
  tree("base values of another number", "base_values", [](Lists& lists) {
    lists.reals["base_values"] = {1, 2};
  });
  tree("an aggregate that is none", "aggregate_function",
       [](Lists& lists) { lists.text["aggregate_function"] = "MEDIAN"; });
  tree("a transform that is none", "post_transform",
       [](Lists& lists) { lists.text["post_transform"] = "COSINE"; });
  tree("thresholds that are whole", "nodes_values", [](Lists& lists) {
    lists.reals.erase("nodes_values");
    lists.number["nodes_values"] = 3;
  });
  tree("thresholds twice", "both",
       [](Lists& lists) { lists.reals["nodes_values_as_tensor"] = lists.reals["nodes_values"]; });
  tree("modes that are numbers", "nodes_modes", [](Lists& lists) {
    lists.texts.erase("nodes_modes");
    lists.number["nodes_modes"] = 3;
  });
  tree("an attribute that ONNX lacks", "nodes_colours",
       [](Lists& lists) { lists.ints["nodes_colours"] = {1}; });
  classical(all, "TreeEnsembleRegressor", "an input of three dimensions", "2x3x1",
            two_trees("target"), [](Lists&) {}, {2, 3, 1});
  classical(all, "TreeEnsembleRegressor", "an input without features", "", two_trees("target"),
            [](Lists&) {}, {2, 0});
}

void add_classifiers(Collection& all) {
  const auto tree = [&](const std::string& name, const std::string& part, const Change& change) {
    classical(all, "TreeEnsembleClassifier", name, part, two_trees("class"), change);
  };
  tree("no labels", "classlabels", [](Lists& lists) { lists.ints.erase("classlabels_int64s"); });
  tree("labels twice", "classlabels", [](Lists& lists) {
    lists.texts["classlabels_strings"] = {"a", "b"};
  });
  tree("one label", "one class", [](Lists& lists) { lists.ints["classlabels_int64s"] = {1}; });
  tree("a vote for a class too high", "class_ids",
       [](Lists& lists) { lists.ints["class_ids"][0] = 2; });
  tree("a vote for a class below zero", "class_ids",
       [](Lists& lists) { lists.ints["class_ids"][0] = kLeast; });
  tree("three base values", "base_values", [](Lists& lists) {
    lists.reals["base_values"] = {1, 2, 3};
  });
  tree("labels that are one number", "classlabels_int64s", [](Lists& lists) {
    lists.ints.erase("classlabels_int64s");
    lists.number["classlabels_int64s"] = 2;
  });
  tree("labels that are one text", "classlabels_strings", [](Lists& lists) {
    lists.ints.erase("classlabels_int64s");
    lists.text["classlabels_strings"] = "cat";
  });
  tree("a cycle", "cycle", [](Lists& lists) { lists.ints["nodes_falsenodeids"][0] = 0; });
  tree("a transform of another case", "post_transform",
       [](Lists& lists) { lists.text["post_transform"] = "softmax"; });
  tree("weights of another number", "class_weights",
       [](Lists& lists) { lists.reals["class_weights"].clear(); });
}

/// A node with two leaves.
Lists newest_tree() {
  Lists lists;
  lists.ints = {{"tree_roots", {0}},        {"nodes_featureids", {1}},  {"nodes_trueleafs", {1}},
                {"nodes_falseleafs", {1}},  {"nodes_truenodeids", {0}}, {"nodes_falsenodeids", {1}},
                {"leaf_targetids", {0, 0}}, {"nodes_modes", {0}}};
  lists.reals = {{"nodes_splits", {0.5F}}, {"leaf_weights", {1, 2}}};
  lists.number = {{"n_targets", 1}};
  return lists;
}

void add_newest(Collection& all) {
  const auto tree = [&](const std::string& name, const std::string& part, const Change& change) {
    classical(all, "TreeEnsemble", name, part, newest_tree(), change);
  };
  const auto entry = [&](const std::string& name, const std::string& part, const std::string& list,
                         std::int64_t value) {
    tree(name, part, [=](Lists& lists) { lists.ints.at(list).at(0) = value; });
  };
  entry("a root beyond the nodes", "starts at node 1", "tree_roots", 1);
  entry("a root below zero", "starts at node -1", "tree_roots", -1);
  entry("a leaf beyond the leaves", "2 leaves", "nodes_truenodeids", 2);
  entry("a leaf below zero", "leaves", "nodes_falsenodeids", -1);
  entry("a leaf of 2^62", "leaves", "nodes_falsenodeids", kHuge);
  tree("a node that leads to itself", "cycle", [](Lists& lists) {
    lists.ints["nodes_trueleafs"] = {0};
    lists.ints["nodes_truenodeids"] = {0};
  });
  entry("a mode beyond the last", "mode 7", "nodes_modes", 7);
  entry("a mode below zero", "mode -1", "nodes_modes", -1);
  entry("a feature beyond the input", "feature 3", "nodes_featureids", 3);
  entry("a feature of the least integer", "feature", "nodes_featureids", kLeast);
  entry("a leaf for a target too high", "target 1", "leaf_targetids", 1);
  entry("a leaf for a target below zero", "target -1", "leaf_targetids", -1);
  entry("a set without members", "membership_values", "nodes_modes", 6);
  for (const char* list : {"nodes_trueleafs", "nodes_falseleafs", "nodes_truenodeids",
                           "nodes_falsenodeids", "nodes_modes"}) {
    tree(std::string("an empty list ") + list, list,
         [list](Lists& lists) { lists.ints[list].clear(); });
  }
  tree("no roots", "no trees", [](Lists& lists) { lists.ints.erase("tree_roots"); });
  tree("no nodes", "no trees", [](Lists& lists) { lists.ints["nodes_featureids"].clear(); });
  tree("thresholds of another number", "nodes_splits", [](Lists& lists) {
    lists.reals["nodes_splits"] = {1, 2};
  });
  tree("weights of another number", "leaf_weights",
       [](Lists& lists) { lists.reals["leaf_weights"] = {1}; });
  tree("an aggregate that is none", "aggregate_function",
       [](Lists& lists) { lists.number["aggregate_function"] = 4; });
  tree("a transform that is none", "post_transform",
       [](Lists& lists) { lists.number["post_transform"] = -1; });
  tree("no targets", "targets", [](Lists& lists) { lists.number["n_targets"] = 0; });
  tree("a short list of missing values", "nodes_missing_value_tracks_true", [](Lists& lists) {
    lists.ints["nodes_missing_value_tracks_true"] = {1, 0};
  });
}

void add_models(Collection& all) {
  const auto add = [&](const std::string& op, const std::string& name, const std::string& part,
                       const Change& fill) { classical(all, op, name, part, {}, fill); };
  add("Scaler", "no lists", "offset", [](Lists&) {});
  add("Scaler", "offsets of another number", "offset", [](Lists& lists) {
    lists.reals = {{"offset", {1, 2}}, {"scale", {1}}};
  });
  add("Normalizer", "a norm that is none", "norm", [](Lists& lists) { lists.text["norm"] = "L3"; });
  add("Imputer", "nothing to put in", "imputed_value_floats", [](Lists&) {});
  add("Imputer", "values of another number", "imputed_value_floats", [](Lists& lists) {
    lists.reals["imputed_value_floats"] = {1, 2};
  });
  add("LabelEncoder", "no keys", "keys", [](Lists&) {});
  add("LabelEncoder", "two lists of keys", "keys", [](Lists& lists) {
    lists.reals["keys_floats"] = {1};
    lists.ints["keys_int64s"] = {1};
    lists.ints["values_int64s"] = {1};
  });
  add("LabelEncoder", "fewer values than keys", "2 keys and 1 values", [](Lists& lists) {
    lists.reals["keys_floats"] = {1, 2};
    lists.ints["values_int64s"] = {1};
  });
  add("LabelEncoder", "keys of another type", "keys are i64", [](Lists& lists) {
    lists.ints["keys_int64s"] = {1};
    lists.ints["values_int64s"] = {1};
  });
  add("LabelEncoder", "keys that are texts", "texts", [](Lists& lists) {
    lists.texts["keys_strings"] = {"a"};
    lists.ints["values_int64s"] = {1};
  });
  add("OneHotEncoder", "no categories", "cats_int64s", [](Lists&) {});
  add("OneHotEncoder", "categories that are texts", "texts",
      [](Lists& lists) { lists.texts["cats_strings"] = {"a"}; });
  add("FeatureVectorizer", "no widths", "inputdimensions", [](Lists&) {});
  add("FeatureVectorizer", "another width", "inputdimensions",
      [](Lists& lists) { lists.ints["inputdimensions"] = {4}; });
  add("ArrayFeatureExtractor", "no places", "has 1 input, expected 2", [](Lists&) {});
  add("LinearRegressor", "no coefficients", "coefficients", [](Lists&) {});
  add("LinearRegressor", "targets below zero", "targets",
      [](Lists& lists) { lists.number["targets"] = -1; });
  add("LinearRegressor", "2^62 targets", "targets", [](Lists& lists) {
    lists.number["targets"] = kHuge;
    lists.reals["coefficients"] = {1, 2, 3};
  });
  add("LinearRegressor", "intercepts of another number", "intercepts", [](Lists& lists) {
    lists.reals = {{"coefficients", {1, 2, 3}}, {"intercepts", {1, 2}}};
  });
  add("LinearClassifier", "no labels", "classlabels", [](Lists& lists) {
    lists.reals["coefficients"] = {1, 2, 3};
  });
  add("LinearClassifier", "coefficients of another number", "coefficients", [](Lists& lists) {
    lists.reals["coefficients"] = {1, 2, 3, 4};
    lists.ints["classlabels_ints"] = {0, 1};
  });
  add("SVMRegressor", "no rho", "rho", [](Lists&) {});
  add("SVMRegressor", "vectors below zero", "n_supports", [](Lists& lists) {
    lists.reals["rho"] = {1};
    lists.number["n_supports"] = -1;
  });
  add("SVMRegressor", "2^62 vectors", "coefficients", [](Lists& lists) {
    lists.reals["rho"] = {1};
    lists.number["n_supports"] = kHuge;
  });
  add("SVMRegressor", "a kernel that is none", "kernel_type", [](Lists& lists) {
    lists.reals = {{"rho", {1}}, {"coefficients", {1}}, {"support_vectors", {1, 2, 3}}};
    lists.number["n_supports"] = 1;
    lists.text["kernel_type"] = "COSINE";
  });
  add("SVMRegressor", "a kernel without parameters", "kernel_params", [](Lists& lists) {
    lists.reals = {{"rho", {1}}, {"coefficients", {1}}, {"support_vectors", {1, 2, 3}}};
    lists.number["n_supports"] = 1;
    lists.text["kernel_type"] = "RBF";
  });
  add("SVMClassifier", "vectors below zero", "class 1", [](Lists& lists) {
    lists.ints = {{"classlabels_ints", {0, 1}}, {"vectors_per_class", {1, -1}}};
  });
  add("SVMClassifier", "vectors that overflow", "class 0", [](Lists& lists) {
    lists.ints = {{"classlabels_ints", {0, 1}}, {"vectors_per_class", {kHuge, kHuge}}};
  });
  add("SVMClassifier", "no vectors", "vectors_per_class", [](Lists& lists) {
    lists.ints = {{"classlabels_ints", {0, 1}}, {"vectors_per_class", {0, 0}}};
  });
  add("SVMClassifier", "probabilities of one sort", "prob_b", [](Lists& lists) {
    lists.ints = {{"classlabels_ints", {0, 1}}, {"vectors_per_class", {1, 0}}};
    lists.reals = {
        {"rho", {1}}, {"coefficients", {1}}, {"support_vectors", {1, 2, 3}}, {"prob_a", {1}}};
  });
  add("ZipMap", "no classes", "classlabels", [](Lists&) {});
  add("ZipMap", "more classes than columns", "4 classes", [](Lists& lists) {
    lists.ints["classlabels_int64s"] = {1, 2, 3, 4};
  });
  add("CategoryMapper", "an operator for texts", "CategoryMapper", [](Lists&) {});
}

}  // namespace

void add_trees(Collection& all) {
  add_regressors(all);
  add_classifiers(all);
  add_newest(all);
  add_models(all);
  all.graph("a newer version of ai.onnx.ml", "ai.onnx.ml", {2, 3}, [](auto& model) {
    add_node(model, "Relu", {"x"}, "y");
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(99);
  });
  all.graph("a sparse initializer", "sparse", {2, 3}, [](auto& model) {
    add_node(model, "Relu", {"x"}, "y");
    model.mutable_graph()->add_sparse_initializer();
  });
  all.graph("a constant that is sparse", "sparse", {2, 3}, [](auto& model) {
    onnx::NodeProto& node = add_node(model, "Constant", {}, "c");
    onnx::AttributeProto& proto = attribute(node, "sparse_value");
    proto.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    add_node(model, "Add", {"x", "c"}, "y");
  });
}

}  // namespace morton::test
