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
  void add(PortInfo port);
  /// The names of what to read.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The outputs alone, as long as their counts say, of tensors for `names`.
  [[nodiscard]] std::vector<Tensor> cut(std::vector<Tensor> tensors) const;

 private:
  std::vector<PortInfo> ports_;
  std::vector<std::size_t> places_;  ///< of each port's own name
  std::vector<std::string> names_;
};

}  // namespace morton::api
