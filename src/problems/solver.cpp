// SPDX-License-Identifier: Apache-2.0
#include "problems/solver.hpp"

#include <cmath>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::problems {
namespace {

/// What the epilogue reads: src0 of an elementwise problem, else the value computed, and the sides.
std::vector<DType> epilogue_types(const BoundProblem& bound,
                                  const Indexed<TensorId, SolverTensor>& tensors) {
  const auto& types = bound.problem.types;
  std::vector<DType> read{types.at(types.contains("src0") ? "src0" : "acc")};
  for (const Side& side : bound.sides) {
    read.push_back(tensors[side.tensor].dtype);
  }
  return read;
}

/// Index into a side operand, broadcast against a tensor of `shape`, of element `index` of that.
std::size_t index_in_side(const Side& side, const Shape& shape, std::size_t index) {
  std::size_t own = 0;
  std::size_t stride = 1;
  for (std::size_t d = 0; d < side.shape.size(); ++d) {
    const auto extent = static_cast<std::size_t>(shape[shape.size() - 1 - d]);
    const std::int64_t side_extent = side.shape[side.shape.size() - 1 - d];
    if (side_extent != 1) own += index % extent * stride;
    stride *= static_cast<std::size_t>(side_extent);
    index /= extent;
  }
  return own;
}

/// dst in the making.
class ProblemSolver {
 public:
  ProblemSolver(const BoundProblem& bound, const Indexed<TensorId, SolverTensor>& tensors)
      : bound_(bound),
        tensors_(tensors),
        shape_(tensors[bound.operands.at("dst").tensor].shape),
        reader_(bound, tensors),
        epilogue_(bound.problem.epilogue, epilogue_types(bound, tensors)),
        result_(static_cast<std::size_t>(element_count(shape_)),
                std::numeric_limits<double>::quiet_NaN()),
        is_written_(result_.size(), false) {
    const DType stored = bound.problem.types.at("dst");
    if (register_type(epilogue_.result_type()) != register_type(stored)) {
      throw InternalError("solve: the epilogue of " + print(bound.problem) + " gives " +
                          std::string(name_of(epilogue_.result_type())) + ", but dst is " +
                          std::string(name_of(stored)));
    }
  }

  std::vector<double> run() {
    const auto value_at = bound_.problem.family->value_at;
    const View& view = bound_.operands.at("dst").view;
    Shape extents;
    for (const auto& name : view.dimensions) extents.push_back(reader_.size(name));
    Coordinates at(extents.size(), 0);
    for (std::int64_t left = element_count(extents); left > 0; --left) {
      if (const auto value = value_at(reader_, at)) store(at, *value);
      for (std::size_t d = at.size(); d-- > 0 && ++at[d] == extents[d];) at[d] = 0;
    }
    return std::move(result_);
  }

 private:
  void store(const Coordinates& at, double value) {
    const auto index = reader_.index_of("dst", at);
    if (!index) return;
    if (is_written_.at(*index)) throw InternalError("solve: stored twice");
    is_written_[*index] = true;
    std::vector<Bounded> inputs{{value, 0.0}};
    for (const Side& side : bound_.sides) {
      const SolverTensor& tensor = tensors_[side.tensor];
      inputs.push_back({tensor.value[index_in_side(side, shape_, *index)], 0.0});
    }
    const Bounded last{epilogue_.evaluate(inputs).value, 0.0};
    result_[*index] = stored_as(bound_.problem.types.at("dst"), last).value;
  }

  const BoundProblem& bound_;
  const Indexed<TensorId, SolverTensor>& tensors_;
  const Shape& shape_;
  ProblemReader reader_;
  TypedChain epilogue_;
  std::vector<double> result_;
  std::vector<bool> is_written_;
};

}  // namespace

ProblemReader::ProblemReader(const BoundProblem& bound,
                             const Indexed<TensorId, SolverTensor>& tensors)
    : bound_(bound), tensors_(tensors), sizes_(environment_of(bound.problem)) {
  for (const auto& [name, binding] : bound.operands) {
    const View& view = binding.view;
    const Shape& shape = tensors[binding.tensor].shape;
    Shape extents;
    for (const auto& extent : view.extents) extents.push_back(extent.evaluate(sizes_));
    if (extents == shape && view.coordinates.size() == shape.size()) continue;
    throw InternalError("solve: a view of " + to_string(extents) + " on " + to_string(shape));
  }
}

std::int64_t ProblemReader::size(std::string_view name) const {
  const auto found = sizes_.find(name);
  if (found != sizes_.end()) return found->second;
  throw InternalError("solve: " + print(bound_.problem) + " has no " + std::string(name));
}

double ProblemReader::load(const std::string& operand, const Coordinates& at) {
  const Binding& binding = bound_.operands.at(operand);
  const auto index = index_of(operand, at);
  if (!index) return binding.view.outside;
  return tensors_[binding.tensor].value[*index];
}

std::optional<std::size_t> ProblemReader::index_of(const std::string& operand,
                                                   const Coordinates& at) {
  const Binding& binding = bound_.operands.at(operand);
  const Shape& shape = tensors_[binding.tensor].shape;
  for (std::size_t d = 0; d < at.size(); ++d) {
    sizes_[coordinate_name(binding.view.dimensions[d])] = at[d];
  }
  std::int64_t index = 0;
  for (std::size_t t = 0; t < shape.size(); ++t) {
    const std::int64_t coordinate = binding.view.coordinates[t].evaluate(sizes_);
    if (coordinate < 0 || coordinate >= shape[t]) {
      if (binding.view.bounded) return std::nullopt;
      throw InternalError("solve: " + operand + " leaves its tensor");
    }
    index = index * shape[t] + coordinate;
  }
  return static_cast<std::size_t>(index);
}

std::vector<double> solve(const BoundProblem& bound,
                          const Indexed<TensorId, SolverTensor>& tensors) {
  return ProblemSolver(bound, tensors).run();
}

}  // namespace morton::problems
