// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"

namespace morton::catalogue {

/// The catalogue of a plan that is to answer at once, before kernels for its model are built. An
/// entry that states "generic" has its generic form there, whose text depends on no model: operands
/// lie row-major unless the entry states a layout, the structure that it lists is arguments, and it
/// carries no epilogue unless it takes that as data. Other entries are as they are, and each use
/// counts the time that building a kernel takes.
[[nodiscard]] std::shared_ptr<const Catalogue> generic_forms(const Catalogue& catalogue);

}  // namespace morton::catalogue
