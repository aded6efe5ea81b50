// SPDX-License-Identifier: Apache-2.0
#include "api/inspect/rounded_operands.hpp"

namespace morton::api {
namespace {

bool is_shorter(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::tf32;
}

}  // namespace

KnownValues RoundedOperands::known_to(std::span<const Step* const> steps,
                                      const KnownValues& known) {
  KnownValues own = known;
  for (const Step* step : steps) {
    for (const ValueId v : step->reads) {
      const Value& read = plan_.values[v];
      const bool is_constant = read.kind == Value::Kind::constant;
      if (is_constant && is_shorter(read.arrangement.dtype)) {
        put(read.name, read.arrangement.dtype, known, own);
      }
      if (read.arrangement.dtype != DType::f32) continue;
      for (const ValueId w : step->writes) {
        const Value& written = plan_.values[w];
        const bool is_copy = written.kind == Value::Kind::workspace;
        if (is_copy && is_shorter(written.arrangement.dtype)) {
          put(read.name, written.arrangement.dtype, known, own);
        }
      }
    }
  }
  return own;
}

/// Tensors of the graph alone: what a recipe makes on the way is computed with what it is made of.
void RoundedOperands::put(const std::string& name, DType type, const KnownValues& known,
                          KnownValues& own) {
  const TensorId id = graph_.find(name);
  if (id == kNoTensor || graph_.tensor(id).dtype != DType::f32) return;
  const auto round = [&](const Tensor& tensor) {
    return tensor.converted(type).converted(DType::f32);
  };
  if (const auto found = known.find(id); found != known.end()) {
    own[id] = round(found->second);
  } else if (graph_.tensor(id).kind == GraphTensor::Kind::constant) {
    Tensor& constant = constants_[{name, type}];
    if (constant.size() != graph_.tensor(id).data.size()) constant = round(graph_.tensor(id).data);
    own[id] = constant;
  }
}

}  // namespace morton::api
