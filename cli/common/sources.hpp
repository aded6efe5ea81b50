// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/pictures/picture_options.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// What one -i argument gives to one input.
struct Source {
  std::string file;
  Tensor tensor;
  /// Of a picture, u8 [H, W, C]: how it becomes an input. Else null.
  std::shared_ptr<const PicturePreparation> picture{};
};

/// Sources by input, in the order of the arguments. Those of one input are stacked along its first
/// dimension.
using Sources = std::map<std::string, std::vector<Source>>;

/// Reads the files of -i arguments: "name:file", or "file" alone when the model has one input or
/// the file names its arrays. Arrays that are no input are left out with a warning. Every input of
/// the model but the `optional` ones is given afterwards; UsageError otherwise, with the list of
/// inputs. Elements of a list are named "x[0]". Whether all are given, Model::inputs says. Throws
/// UsageError where options of pictures are given and no file is one.
[[nodiscard]] Sources read_sources(const std::vector<std::string>& arguments,
                                   const std::vector<PortInfo>& inputs,
                                   const PictureOptions& pictures,
                                   const std::set<std::string>& optional = {});

/// An -i argument in its parts.
struct InputArgument {
  std::string input;  ///< empty when the argument names none
  std::string file;
};

/// Splits "name:file". Names of inputs may hold colons, and so may those of files: the longest name
/// of an input that fits wins, then a file of the whole name. Throws UsageError with the list of
/// inputs.
[[nodiscard]] InputArgument split_argument(const std::string& text,
                                           const std::vector<PortInfo>& inputs);

/// Whether the name is a picture's (.png, .jpg, .jpeg).
[[nodiscard]] bool is_image(const std::string& file);
/// Whether it is a folder, or a pattern with *, ? or [ that is no file's name.
[[nodiscard]] bool names_files(const std::string& file);

/// Whether a file may be given under this name: that of an input, or of a list's element.
[[nodiscard]] bool takes_files(const std::vector<PortInfo>& inputs, std::string_view name);

/// Adds the shapes of what the sources give to lists and optional values among the inputs, which
/// say how many elements a list has (CompileOptions::shapes).
void take_list_shapes(const Sources& sources, const std::vector<PortInfo>& inputs,
                      std::map<std::string, Shape>& shapes);

/// Throws UsageError where an element of a list, or an optional value, is among `inputs` and no
/// file is given for it. `declared` are the inputs as the model has them.
void require_elements(const Sources& sources, const std::vector<PortInfo>& declared,
                      const std::vector<PortInfo>& inputs);

/// "f32  1x3x224x224", "optional list of i64  any shape".
[[nodiscard]] std::string type_text(const PortInfo& port);

/// Throws ModelError where a file of an -i argument is not there: before a model is read, whose
/// inputs' names would say which part of the argument is the file.
void require_files(const std::vector<std::string>& arguments);

}  // namespace morton::cli
