// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/whole_plan.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/numbers/checked.hpp"
#include "base/shape.hpp"

namespace morton::plan {
namespace {

/// A tensor's bytes: copies of it share them.
using Bytes = std::pair<const std::byte*, std::size_t>;

Bytes bytes_in(const Tensor& tensor) { return {tensor.stored(), tensor.bytes()}; }

class TakingApart {
 public:
  TakingApart(const Plan& plan, const Graph& graph) : whole_{plan, {}, {}, plan.decisions} {
    for (const GraphTensor& tensor : graph.tensors) {
      if (tensor.kind == GraphTensor::Kind::constant) {
        of_model_.emplace(bytes_in(tensor.data), tensor.name);
      }
    }
  }

  WholePlan run(std::vector<Tensor>& contents) {
    for (const ValueId v : whole_.plan.values.ids()) {
      Value& value = whole_.plan.values[v];
      if (value.kind != Value::Kind::constant) continue;
      ArchivedConstant constant{v,  value.data.dtype(),         value.data.shape(), {}, 0,
                                {}, std::move(value.view_names)};
      if (value.view) constant.view.push_back(std::move(*value.view));
      const auto known = of_model_.find(bytes_in(value.data));
      if (known != of_model_.end()) {
        constant.tensor = known->second;
      } else {
        constant.piece = piece_of(value.data, contents);
      }
      whole_.constants.push_back(std::move(constant));
      value.data = Tensor();
      value.view.reset();
      value.view_names.clear();
    }
    return std::move(whole_);
  }

 private:
  std::uint64_t piece_of(const Tensor& tensor, std::vector<Tensor>& contents) {
    const auto [place, is_new] = pieces_.emplace(bytes_in(tensor), whole_.pieces.size());
    if (is_new) {
      const std::string_view bytes{reinterpret_cast<const char*>(tensor.stored()), tensor.bytes()};
      whole_.pieces.push_back({end_, bytes.size(), digest_of(bytes)});
      contents.push_back(tensor);
      end_ += (bytes.size() + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
    }
    return place->second;
  }

  WholePlan whole_;
  std::map<Bytes, std::string> of_model_;
  std::map<Bytes, std::uint64_t> pieces_;
  std::uint64_t end_ = 0;
};

}  // namespace

WholePlan taken_apart(const Plan& plan, const Graph& graph, std::vector<Tensor>& contents) {
  return TakingApart(plan, graph).run(contents);
}

Plan put_together(WholePlan whole, const Graph& graph, const TensorOfPiece& tensor_of,
                  const std::string& where) {
  std::map<std::string_view, const GraphTensor*> of_model;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) of_model.emplace(tensor.name, &tensor);
  }
  const auto fail = [&](const std::string& why) {
    throw ModelError(where + ": is damaged: " + why);
  };
  Plan plan = std::move(whole.plan);
  for (ArchivedConstant& constant : whole.constants) {
    if (!plan.values.contains(constant.value)) fail("a constant is no value");
    Value& value = plan.values[constant.value];
    if (value.kind != Value::Kind::constant) fail("'" + value.name + "' is no constant");
    if (!constant.tensor.empty()) {
      const auto found = of_model.find(constant.tensor);
      if (found == of_model.end() || found->second->data.dtype() != constant.dtype) {
        fail("the model has no constant '" + constant.tensor + "' of that type");
      }
      value.data = found->second->data.reshaped(constant.shape);
    } else {
      if (constant.piece >= whole.pieces.size()) fail("a constant has no bytes");
      const ArchivedPiece& piece = whole.pieces[constant.piece];
      const std::int64_t bytes =
          checked_mul(element_count(constant.shape), size_of(constant.dtype), where.c_str());
      if (static_cast<std::uint64_t>(bytes) != piece.bytes) {
        fail("the bytes of '" + value.name + "' do not fit its shape");
      }
      value.data = tensor_of(piece, constant.dtype, constant.shape);
    }
    if (!constant.view.empty()) value.view = std::move(constant.view.front());
    value.view_names = std::move(constant.view_names);
    if (!value.view && value.data.shape() != value.arrangement.tensor_shape) {
      fail("'" + value.name + "' has another shape");
    }
  }
  plan.decisions = std::move(whole.decisions);
  return plan;
}

}  // namespace morton::plan
