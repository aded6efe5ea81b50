// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_facts.hpp"

#include <algorithm>

#include "formats/onnx/onnx_graph_writer.hpp"
#include "morton/version.hpp"

namespace morton::formats {
namespace {

/// The version of the file format that came with an operator set; older readers refuse later ones.
std::int64_t ir_version_of(std::int64_t opset) {
  if (opset <= 18) return 8;
  if (opset <= 22) return opset <= 20 ? 9 : 10;
  return opset == 28 ? 14 : std::min<std::int64_t>(opset - 12, 13);
}

/// As the graph's file had it. Else the newest: what Morton writes itself is of it.
std::int64_t version_of_domain(const Graph& graph, const std::string& domain) {
  const auto known = graph.facts.operator_sets.find(domain);
  if (known != graph.facts.operator_sets.end()) return known->second;
  return domain == kMlDomain ? kNewestMlOpset : 1;
}

}  // namespace

FileFacts facts_in(const ScannedModel& scanned) {
  const onnx::ModelProto& model = scanned.model;
  FileFacts facts;
  facts.producer = model.producer_name();
  facts.producer_version = model.producer_version();
  facts.domain = model.domain();
  facts.version = model.model_version();
  facts.description = model.doc_string();
  facts.graph_description = model.graph().doc_string();
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    facts.metadata[entry.key()] = entry.value();
  }
  for (const onnx::OperatorSetIdProto& import : model.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") continue;
    facts.operator_sets[import.domain()] = import.version();
  }
  facts.left_out = scanned.left_out;
  if (model.functions_size() > 0) facts.left_out.insert("functions, whose nodes stand in place");
  return facts;
}

onnx::ModelProto model_without_graph(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(ir_version_of(graph.opset));
  model.set_producer_name("morton");
  model.set_producer_version(MORTON_VERSION);
  const FileFacts& facts = graph.facts;
  if (!facts.domain.empty()) model.set_domain(facts.domain);
  if (facts.version != 0) model.set_model_version(facts.version);
  if (!facts.description.empty()) model.set_doc_string(facts.description);
  for (const auto& [key, value] : facts.metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  model.add_opset_import()->set_version(graph.opset);
  for (const std::string& domain : domains_of(graph)) {
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(version_of_domain(graph, domain));
  }
  return model;
}

}  // namespace morton::formats
