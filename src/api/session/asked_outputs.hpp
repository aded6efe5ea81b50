// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "morton/model.hpp"
#include "run/runner.hpp"

namespace morton::api {

/// A host tensor of a value's type and shape, for reading it.
[[nodiscard]] Tensor tensor_of(Runner& runner, ValueId value);

/// Outputs that somebody asks for, with what counts their late extents: all are read in one wait,
/// then they are cut.
class AskedOutputs {
 public:
  /// Keeps the reference.
  explicit AskedOutputs(Runner& runner) : runner_(runner) {}

  void add(PortInfo port);
  /// What to read.
  [[nodiscard]] const std::vector<ValueId>& values() const { return values_; }
  /// The outputs alone, as long as their counts say, of tensors for `values`.
  [[nodiscard]] std::vector<Tensor> cut(std::vector<Tensor> tensors) const;

 private:
  Runner& runner_;
  std::vector<PortInfo> ports_;
  std::vector<std::size_t> places_;  ///< of each port's own value
  std::vector<ValueId> values_;
};

}  // namespace morton::api
