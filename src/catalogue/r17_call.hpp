// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "catalogue/r17_restrictions.hpp"

namespace morton::catalogue {

/// Throws ModelError where the text of the function, which the library names in `function`, takes
/// other parameters than `call` says.
void check_r17_parameters(const R17Call& call, const JsonReader& function, const Entry& entry);

/// Makes a kernel of R17 one of this catalogue. A product takes its arguments as they are. R17's
/// kernels of one and two matrices work in place, where a step here has src and dst: a kernel
/// around each hands it what it computes in dst.
void adopt_r17_kernel(const R17Call& call, Entry& entry);

}  // namespace morton::catalogue
