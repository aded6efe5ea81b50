// SPDX-License-Identifier: Apache-2.0
#include "training/loop/fixed_part.hpp"

#include <algorithm>
#include <map>

#include "base/files/file.hpp"

namespace morton::training {

std::string fixed_part_digest(const Graph& graph, std::span<const std::string> renewed) {
  std::map<std::string, std::string> constants;
  Graph structure = graph;
  structure.name.clear();
  for (GraphTensor& tensor : structure.tensors) {
    tensor.shape.clear();
    tensor.declared.clear();
    if (tensor.kind != GraphTensor::Kind::constant) continue;
    if (std::find(renewed.begin(), renewed.end(), tensor.name) != renewed.end()) continue;
    constants[tensor.name] =
        digest_of({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.bytes()});
  }
  std::string text = print(structure);
  for (const auto& [name, digest] : constants) text += name + " " + digest + "\n";
  return digest_of(text);
}

}  // namespace morton::training
