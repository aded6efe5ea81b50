// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/plan_archive.hpp"

namespace morton::plan {

/// What plan_archive.hpp leaves out of a constant: where its bytes are, and how they are packed.
struct ArchivedConstant {
  ValueId value;
  DType dtype = DType::f32;
  Shape shape;
  std::string tensor;       ///< the model's, whose bytes they are; empty: those of a piece
  std::uint64_t piece = 0;  ///< number in WholePlan::pieces
  std::vector<View> view;   ///< one or none
  Environment view_names;
};

/// Bytes that passes over the model made, as they follow each other elsewhere.
struct ArchivedPiece {
  std::uint64_t offset = 0, bytes = 0;
  std::string digest;
};

/// A plan as it was made, for the model that it was made from. It can be loaded, and plans for
/// other extents can be made by its decisions; nothing can be tuned by it.
struct WholePlan {
  Plan plan;  ///< without the constants' data and views
  std::vector<ArchivedConstant> constants;
  std::vector<ArchivedPiece> pieces;
  std::map<std::string, TaskDecision> decisions;
};

/// Where pieces begin: at multiples of this.
inline constexpr std::uint64_t kPieceAlignment = 64;

/// Takes `plan` apart; `contents` gets the tensors of the pieces. `graph` is the model's, as
/// loaded.
[[nodiscard]] WholePlan taken_apart(const Plan& plan, const Graph& graph,
                                    std::vector<Tensor>& contents);

/// The plan again, with constants from `graph` and from `tensor_of(piece, dtype, shape)`. Throws
/// ModelError that names `where` for what does not fit.
using TensorOfPiece = std::function<Tensor(const ArchivedPiece&, DType, const Shape&)>;
[[nodiscard]] Plan put_together(WholePlan whole, const Graph& graph, const TensorOfPiece& tensor_of,
                                const std::string& where);

}  // namespace morton::plan

namespace morton {

/// As its text.
template <typename Archive, Archived<Expression> T>
void visit(Archive& archive, T& expression) {
  std::string text = expression.print();
  archive(text);
  if constexpr (!std::is_const_v<T>) expression = Expression::parse(text, "archive");
}

template <typename Archive, Archived<View> T>
void visit(Archive& archive, T& view) {
  auto& [dimensions, coordinates, extents, grouping, bounded, outside] = view;
  bool is_grouped = grouping.has_value();
  std::vector<std::vector<int>> groups;
  if (is_grouped) {
    for (const JoinedDimensions& group : *grouping) groups.emplace_back(group.begin(), group.end());
  }
  archive(dimensions, coordinates, extents, is_grouped, groups, bounded, outside);
  if constexpr (!std::is_const_v<T>) {
    grouping.reset();
    if (!is_grouped) return;
    grouping.emplace(groups.size());
    for (std::size_t d = 0; d < groups.size(); ++d) {
      if (groups[d].size() > kMaxRank) archive.fail("a group of too many dimensions");
      (*grouping)[d].append(groups[d]);
    }
  }
}

template <typename Archive, Archived<plan::ArchivedConstant> T>
void visit(Archive& archive, T& constant) {
  auto& [value, dtype, shape, tensor, piece, view, view_names] = constant;
  archive(value, dtype, shape, tensor, piece, view, view_names);
}

template <typename Archive, Archived<plan::ArchivedPiece> T>
void visit(Archive& archive, T& piece) {
  auto& [offset, bytes, digest] = piece;
  archive(offset, bytes, digest);
}

template <typename Archive, Archived<plan::DecidedKernel> T>
void visit(Archive& archive, T& kernel) {
  auto& [entry, tunables] = kernel;
  archive(entry, tunables);
}

template <typename Archive, Archived<plan::TaskDecision> T>
void visit(Archive& archive, T& decision) {
  auto& [way, kernels, format] = decision;
  archive(way, kernels, format);
}

template <typename Archive, Archived<plan::WholePlan> T>
void visit(Archive& archive, T& whole) {
  auto& [plan, constants, pieces, decisions] = whole;
  archive(plan, constants, pieces, decisions);
}

}  // namespace morton
