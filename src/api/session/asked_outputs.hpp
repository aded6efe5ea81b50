// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::api {

/// Outputs that somebody asks for, with what counts their late extents: all are read in one wait,
/// then they are cut.
class AskedOutputs {
 public:
  /// Keeps the reference, and no copy: a run asks anew.
  void add(const PortInfo& port);
  /// What counts an extent.
  void add_count(const std::string& name);
  /// The names of what to read.
  [[nodiscard]] const std::vector<const std::string*>& names() const { return names_; }
  /// The outputs alone, as long as their counts say, of tensors for `names`.
  [[nodiscard]] std::vector<Tensor> cut(std::vector<Tensor> tensors) const;

 private:
  std::vector<const PortInfo*> ports_;  ///< nullptr for a count
  std::vector<std::size_t> places_;     ///< of each port's own name
  std::vector<const std::string*> names_;
};

}  // namespace morton::api
