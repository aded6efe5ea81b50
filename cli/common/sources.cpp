// SPDX-License-Identifier: Apache-2.0
#include "common/sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/log.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"

namespace morton::cli {
namespace {

/// Links that lead nowhere are there too: reading one says what is wrong with it.
bool is_there(const std::string& path) {
  std::error_code status;
  return std::filesystem::exists(std::filesystem::symlink_status(path, status));
}

std::string inputs_text(const std::vector<PortInfo>& inputs) {
  std::string text;
  for (const PortInfo& input : inputs) {
    text += fmt::format("\n{}  {}", input.name, type_text(input));
  }
  return text;
}

/// The part of "x[0]:file" before the colon, of a list `x`; empty where it is not so.
std::string element_in_front(const std::string& text, const std::string& list) {
  if (!text.starts_with(list + "[")) return {};
  std::string name = text.substr(0, text.find("]:", list.size()) + 1);
  const auto element = as_list_element(name);
  return element && element->list == list ? name : std::string();
}

std::string names_text(const std::vector<NamedTensor>& tensors) {
  std::string text;
  for (const NamedTensor& tensor : tensors) {
    text += fmt::format("\n{}  {}  {}", tensor.name, name_of(tensor.tensor.dtype()),
                        shape_text(tensor.tensor.shape()));
  }
  return text;
}

/// Adds the tensors of a file whose argument names the input `argument.input`.
void add_named(const InputArgument& argument, std::vector<NamedTensor> tensors,
               const std::shared_ptr<const PicturePreparation>& picture, Sources& sources) {
  auto chosen = tensors.begin();
  if (tensors.size() > 1) chosen = std::ranges::find(tensors, argument.input, &NamedTensor::name);
  if (chosen == tensors.end()) {
    throw UsageError(fmt::format("{}: holds no array named '{}'; it holds:{}", argument.file,
                                 argument.input, names_text(tensors)));
  }
  sources[argument.input].push_back({argument.file, chosen->tensor, picture});
}

/// Adds the tensors of a file whose argument names no input: by the arrays' own names, or to the
/// only input.
void add_unnamed(const InputArgument& argument, std::vector<NamedTensor> tensors,
                 const std::vector<PortInfo>& inputs,
                 const std::shared_ptr<const PicturePreparation>& picture, Sources& sources) {
  const bool single = tensors.size() == 1;
  std::size_t used = 0;
  for (NamedTensor& tensor : tensors) {
    std::string input = takes_files(inputs, tensor.name) ? tensor.name : std::string();
    const bool is_only = single && inputs.size() == 1 && !inputs.front().form.is_list;
    if (input.empty() && is_only) input = inputs.front().name;
    if (input.empty()) continue;
    sources[input].push_back({argument.file, tensor.tensor, picture});
    ++used;
    tensor.name.clear();  // what keeps its name has not been used
  }
  if (used == 0) {
    throw UsageError(fmt::format("-i {}: say which input it is for, as NAME:FILE; the inputs:{}",
                                 argument.file, inputs_text(inputs)));
  }
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name.empty()) continue;
    log::warn("{}: array '{}' is no input of the model and is left out", argument.file,
              tensor.name);
  }
}

}  // namespace

InputArgument split_argument(const std::string& text, const std::vector<PortInfo>& inputs) {
  InputArgument result;
  for (const PortInfo& input : inputs) {
    const std::string name = input.form.is_list ? element_in_front(text, input.name) : input.name;
    if (name.empty() || !text.starts_with(name + ":")) continue;
    if (name.size() >= result.input.size()) result = {name, text.substr(name.size() + 1)};
  }
  const std::size_t colon = text.find(':');
  if (result.input.empty()) {
    for (const PortInfo& input : inputs) {
      if (!input.form.is_list || !text.starts_with(input.name + ":")) continue;
      throw UsageError(fmt::format("-i {}: input '{}' is a list: give its elements, as -i {}:FILE",
                                   text, input.name, element_name(input.name, 0)));
    }
    if (colon != std::string::npos && !is_there(text)) {
      throw UsageError(fmt::format("-i {}: the model has no input '{}'; its inputs:{}", text,
                                   text.substr(0, colon), inputs_text(inputs)));
    }
    result.file = text;
  }
  if (result.file.empty()) {
    throw UsageError(fmt::format(
        "-i '{}': expected NAME:FILE, or FILE when the model has one input; its inputs:{}", text,
        inputs_text(inputs)));
  }
  return result;
}

bool is_image(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  static constexpr std::string_view kImages[] = {".png", ".jpg", ".jpeg"};
  return std::ranges::find(kImages, extension) != std::end(kImages);
}

bool names_files(const std::string& file) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) return true;
  return file.find_first_of("*?[") != std::string::npos && !is_there(file);
}

bool takes_files(const std::vector<PortInfo>& inputs, std::string_view name) {
  const auto element = as_list_element(name);
  return std::ranges::any_of(inputs, [&](const PortInfo& input) {
    return input.form.is_list ? element && element->list == input.name : input.name == name;
  });
}

std::string type_text(const PortInfo& port) {
  const std::string form = fmt::format("{}{}", port.form.is_optional ? "optional " : "",
                                       port.form.is_list ? "list of " : "");
  return fmt::format("{}{}  {}", form, name_of(port.dtype),
                     port.form.any_shape ? "any shape" : shape_text(port.shape, port.symbols));
}

void require_files(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::size_t first = argument.find(':');
    bool is_found = is_there(argument) || names_files(argument);
    for (std::size_t at = first; at != std::string::npos && !is_found;
         at = argument.find(':', at + 1)) {
      is_found = is_there(argument.substr(at + 1));
    }
    // One that names no input or no file is told with the model's inputs.
    const std::string file = first == std::string::npos ? argument : argument.substr(first + 1);
    if (!is_found && first != 0 && !file.empty()) {
      throw ModelError(fmt::format("{}: cannot open: {}", file, std::strerror(ENOENT)));
    }
  }
}

void take_list_shapes(const Sources& sources, const std::vector<PortInfo>& inputs,
                      std::map<std::string, Shape>& shapes) {
  for (const auto& [name, given] : sources) {
    const auto element = as_list_element(name);
    const std::string port = element ? element->list : name;
    const bool is_open = std::ranges::any_of(inputs, [&](const PortInfo& input) {
      return !input.form.is_tensor() && (input.name == port || input.name == name);
    });
    if (is_open && !given.front().picture) shapes.emplace(name, given.front().tensor.shape());
  }
}

void require_elements(const Sources& sources, const std::vector<PortInfo>& declared,
                      const std::vector<PortInfo>& inputs) {
  for (const PortInfo& input : inputs) {
    const bool is_declared = std::ranges::any_of(declared, [&](const PortInfo& port) {
      return port.form.is_tensor() && port.name == input.name;
    });
    if (is_declared || sources.contains(input.name)) continue;
    throw UsageError(
        fmt::format("input '{}' is missing: give it as -i {}:FILE", input.name, input.name));
  }
}

Sources read_sources(const std::vector<std::string>& arguments, const std::vector<PortInfo>& inputs,
                     const PictureOptions& pictures, const std::set<std::string>& optional) {
  Sources sources;
  const auto preparation = std::make_shared<const PicturePreparation>(preparation_of(pictures));
  bool any_picture = false;
  for (const std::string& text : arguments) {
    const InputArgument argument = split_argument(text, inputs);
    std::vector<NamedTensor> tensors = read_tensors(argument.file, pictures.limits);
    if (tensors.empty()) throw ModelError(fmt::format("{}: holds no array", argument.file));
    const auto picture = is_image(argument.file) ? preparation : nullptr;
    any_picture = any_picture || picture;
    if (argument.input.empty()) {
      add_unnamed(argument, std::move(tensors), inputs, picture, sources);
    } else {
      add_named(argument, std::move(tensors), picture, sources);
    }
  }
  if (is_given(pictures) && !any_picture) {
    throw UsageError(fmt::format("{} are for pictures, and no input is given as one",
                                 fmt::join(picture_option_names(), ", ")));
  }
  for (const PortInfo& input : inputs) {
    if (sources.contains(input.name) || optional.contains(input.name)) continue;
    if (!input.form.is_tensor()) continue;
    throw UsageError(fmt::format("input '{}' is missing: give it as -i {}:FILE; the inputs:{}",
                                 input.name, input.name, inputs_text(inputs)));
  }
  return sources;
}

}  // namespace morton::cli
