// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// What one -i argument gives to one input.
struct Source {
  std::string file;
  Tensor tensor;
  bool image = false;  ///< u8 [H, W, C], to be fitted to the input's shape
};

/// Sources by input, in the order of the arguments. Those of one input are stacked along its first
/// dimension.
using Sources = std::map<std::string, std::vector<Source>>;

/// Reads the files of -i arguments: "name:file", or "file" alone when the model has one input or
/// the file names its arrays. Arrays that are no input are left out with a warning. Every input of
/// the model but the `optional` ones is given afterwards; UsageError otherwise, with the list of
/// inputs.
[[nodiscard]] Sources read_sources(const std::vector<std::string>& arguments,
                                   const std::vector<PortInfo>& inputs,
                                   const std::set<std::string>& optional = {});

/// Throws ModelError where a file of an -i argument is not there: before a model is read, whose
/// inputs' names would say which part of the argument is the file.
void require_files(const std::vector<std::string>& arguments);

}  // namespace morton::cli
