// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files/archive.hpp"
#include "graph/growth_archive.hpp"
#include "morton/model.hpp"

namespace morton {

/// Where archives look for it: PortInfo is a public type. Ports of compiled models are tensors.
template <typename Archive, Archived<PortInfo> T>
void visit(Archive& archive, T& port) {
  auto& [name, dtype, shape, symbols, labels, counts, form] = port;
  archive(name, dtype, shape, symbols, labels, counts);
}

}  // namespace morton
