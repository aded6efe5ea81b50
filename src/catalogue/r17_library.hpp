// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"

namespace morton::catalogue {

/// What a kernel library of R17 holds.
struct R17Library {
  std::vector<Entry> entries;  ///< of the families gemm, bias, sigmoid and relu
  /// By codename, those that no problem here can be given to.
  std::map<std::string, UnstatedKernel> left_out;
};

/// True for the JSON of a kernel library: an object with "sources".
[[nodiscard]] bool is_r17_library(const Json& json);

/// Reads a kernel library (R17, sections 4.4.1 and 8.3):
///
///     {"sources": [{"codename": "product", "function": "f", "source": "lib.cl", "restrictions": {
///        "arglist": "lh", "scale": {"rows": 2, "cols": 2}, "flop": 2,
///        "a": {"representation": "R_2_4_R", "rowAlign": 2, "colAlign": 4}, "b": {...}, "r":
///        {...}}}]}
///
/// r = a * b: a is lhs [M, K], b is rhs [K, N], r is dst [M, N], each in the layout of its
/// representation with rows and columns padded to multiples of rowAlign and colAlign. The kernel
/// takes a uint for each letter of arglist, in the order in which they stand (l = K, w = N, h = M,
/// padded), then a, b and r. It is launched over the rows and columns of r, divided by scale, in
/// work-groups of LOCAL_M x LOCAL_N, R17's 4 x 16 where nothing else is said; M and N are padded to
/// whole work-groups. HON_DATA_TYPE is float and HON_DATA_TYPE_VECTOR float4.
///
/// With "operation": "bias", r is a plus a column of biases, b; with "sigmoid" or "relu" it is that
/// function of a. Where "r" is missing the kernel works in place, on a. A kernel of one matrix may
/// have "scale": {"elements": 4}: its ids count so many neighbours in memory, in whatever layout.
///
/// An entry is named by its codename alone. `read_source` gives the text of a .cl file. A kernel
/// without restrictions is left out: R17's framework knows from its own code what it computes.
/// Catalogue::take_by_convention takes what that code knows.
/// Throws ModelError that names the file and the key.
[[nodiscard]] R17Library read_r17_library(
    const JsonReader& reader, const std::function<std::string(const std::string&)>& read_source);

}  // namespace morton::catalogue
