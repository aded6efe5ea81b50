// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "api/inside.hpp"
#include "autodiff/form_of_use.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "graph/graph.hpp"
#include "morton/training_run.hpp"
#include "training/files/checkpoint.hpp"
#include "training/loop/fixed_part.hpp"

namespace morton {
using namespace api;
namespace {

FoundCheckpoint checkpoint_in(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::is_directory(path, status)) return {read_checkpoint(path), ""};
  std::optional<FoundCheckpoint> found = CheckpointStore(path).read();
  if (found) return *std::move(found);
  throw ModelError(path + ": holds no checkpoint; expected checkpoint.safetensors of a training");
}

[[noreturn]] void fail_other_model(const Checkpoint& checkpoint, const std::string& why) {
  throw ModelError(checkpoint.where + ": belongs to another model: " + why);
}

}  // namespace

ModelAtCheckpoint with_checkpoint(const Model& model, const std::string& path) {
  FoundCheckpoint found = checkpoint_in(path);
  const Checkpoint& checkpoint = found.checkpoint;
  Graph graph = in_form_of_use(Inside::of(model));
  const std::vector<std::string> names = checkpoint.names(kParametersFact);
  for (const std::string& name : names) {
    const TensorId id = graph.find(name);
    if (id == kNoTensor || graph.tensor(id).kind != GraphTensor::Kind::constant) {
      fail_other_model(checkpoint, "this one has no parameter '" + name + "'");
    }
    const Tensor& learned = checkpoint.tensor(name);
    Tensor& own = graph.tensor(id).data;
    if (own.shape() != learned.shape() || own.dtype() != learned.dtype()) {
      fail_other_model(checkpoint, "its '" + name + "' is " + to_string(learned.shape()) +
                                       ", this one's is " + to_string(own.shape()));
    }
    own = learned;
  }
  if (fixed_part_digest(graph, names) != checkpoint.text(std::string(kSettingFact) + kFixedPart)) {
    fail_other_model(checkpoint,
                     "nodes or parameters that the training left as they were are others; name "
                     "the model that was trained");
  }
  return {Inside::make(std::move(graph), Inside::limits_of(model)), checkpoint.where,
          checkpoint.integer("steps"), std::move(found.damage)};
}

}  // namespace morton
