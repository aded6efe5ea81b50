// SPDX-License-Identifier: Apache-2.0
#include "common/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "common/log.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"
#include "morton/pictures.hpp"

namespace morton::cli {
namespace {

/// Shape of all sources of an input, stacked; nothing known of it when they are images (the first
/// extent excepted, their number).
Shape stacked_shape(const std::vector<Source>& sources) {
  if (sources.front().picture) return {static_cast<std::int64_t>(sources.size())};
  Shape shape = sources.front().tensor.shape();
  for (std::size_t i = 1; i < sources.size(); ++i) {
    const Shape& next = sources[i].tensor.shape();
    if (shape.empty() || next.size() != shape.size() ||
        !std::equal(next.begin() + 1, next.end(), shape.begin() + 1)) {
      throw UsageError(fmt::format("{}: has shape {}, which cannot follow {} of {}",
                                   sources[i].file, shape_text(next), shape_text(shape),
                                   sources.front().file));
    }
    shape[0] += next[0];
  }
  return shape;
}

/// [N, C, H, W] or [N, H, W, C]; without the first extent an input is of one picture.
constexpr std::size_t kBatchedRank = 4;

bool is_real(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::f64; }

/// f16 and f64 are turned to f32 where a model wants that; nothing else is converted.
void require_type(const PortInfo& input, const std::vector<Source>& sources) {
  for (const Source& source : sources) {
    const DType type = source.tensor.dtype();
    const bool converts =
        source.picture ? is_real(input.dtype)
                       : input.dtype == DType::f32 && (type == DType::f16 || type == DType::f64);
    if (type == input.dtype || converts) continue;
    throw UsageError(fmt::format("{}: holds {}, but input '{}' takes {}", source.file,
                                 name_of(type), input.name, name_of(input.dtype)));
  }
}

void require_fit(const PortInfo& input, const std::vector<Source>& sources, const Shape& shape) {
  bool fits = shape.size() == input.shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = input.shape[i] < 0 || input.shape[i] == shape[i];
  }
  if (!fits) {
    throw UsageError(fmt::format("{}: has shape {}, but input '{}' takes {}", sources.front().file,
                                 shape_text(shape), input.name,
                                 shape_text(input.shape, input.symbols)));
  }
}

/// What `call` returns; what does not fit names the picture's file.
template <typename Call>
auto naming(const Source& source, const Call& call) {
  try {
    return call();
  } catch (const UsageError& error) {
    throw UsageError(source.file + ": " + error.message());
  }
}

Tensor fitted(const Source& source, const PortInfo& input) {
  if (source.picture) {
    Shape one = input.shape;
    if (one.size() == kBatchedRank) one[0] = 1;
    return naming(
        source, [&] { return picture_to_input(source.tensor, input.dtype, one, *source.picture); });
  }
  const DType type = source.tensor.dtype();
  if ((type == DType::f16 || type == DType::f64) && input.dtype == DType::f32) {
    log::warn("{}: {} is converted to f32 for input '{}'", source.file, name_of(type), input.name);
    return source.tensor.converted(DType::f32);
  }
  return source.tensor;
}

Tensor stacked(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts.front();
  Shape shape = parts.front().shape();
  shape[0] = 0;
  for (const Tensor& part : parts) shape[0] += part.shape()[0];
  Tensor whole = Tensor::allocate(parts.front().dtype(), shape);
  std::byte* to = whole.mutable_data();
  for (const Tensor& part : parts) {
    if (part.dtype() != whole.dtype()) {
      throw UsageError(fmt::format("files of one input hold {} and {}", name_of(whole.dtype()),
                                   name_of(part.dtype())));
    }
    std::memcpy(to, part.data(), part.bytes());
    to += part.bytes();
  }
  return whole;
}

/// Throws UsageError, before anything is built, where the files hold another shape than is run.
void check_extents(const Tensor& tensor, const std::vector<Source>& from, const PortInfo& input) {
  if (!is_settled(input) || tensor.shape() == input.shape) return;
  std::string files;
  for (const Source& source : from) files += (files.empty() ? "" : ", ") + source.file;
  const std::string held = shape_text(tensor.shape());
  throw UsageError(
      fmt::format("input '{0}': {1} holds {2}, and the model is to run at {3}; "
                  "--shape {0}:{2} runs it at the file's shape where the model is open",
                  input.name, files, held, shape_text(input.shape)));
}

/// Throws UsageError for a shape of an input that the model does not have, before the size of its
/// pictures is missed. A pattern is left to the model.
void require_inputs_of_shapes(const CompileOptions& options, const std::vector<PortInfo>& inputs) {
  for (const auto& [name, shape] : options.shapes) {
    const bool is_there = std::ranges::find(inputs, name, &PortInfo::name) != inputs.end();
    if (is_there || name.find('*') != std::string::npos) continue;
    std::vector<std::string> known;
    for (const PortInfo& input : inputs) known.push_back(input.name);
    throw UsageError(fmt::format("--shape {}: the model has no such input (inputs: {})", name,
                                 fmt::join(known, ", ")));
  }
}

/// Settles how many pictures an input takes, and of which size where the model leaves that open.
void fit_pictures(const std::vector<Source>& given, const PortInfo& input,
                  const std::vector<PortInfo>& inputs, CompileOptions& options) {
  if (options.shapes.contains(input.name)) return;
  const auto count = static_cast<std::int64_t>(given.size());
  const bool counts = !input.shape.empty() && input.shape[0] < 0 && options.batch == 0;
  const bool open = std::ranges::any_of(input.shape.begin() + (input.shape.empty() ? 0 : 1),
                                        input.shape.end(), [](std::int64_t n) { return n < 0; });
  if (!open) {
    if (counts) options.batch = count;
    return;
  }
  require_inputs_of_shapes(options, inputs);
  const Source& first = given.front();
  const PictureSize picture{first.tensor.shape()[0], first.tensor.shape()[1]};
  Shape shape = input.shape;
  if (shape.front() < 0) shape.front() = options.batch > 0 ? options.batch : count;
  const PictureSize size =
      naming(first, [&] { return place_of(picture, picture_size_of(shape), *first.picture).size; });
  options.shapes.emplace(input.name, with_picture_size(shape, size));
}

}  // namespace

void fit_shapes(const Sources& sources, const std::vector<PortInfo>& inputs,
                CompileOptions& options) {
  for (const PortInfo& input : inputs) {
    const std::vector<Source>& given = sources.at(input.name);
    require_type(input, given);
    const Shape shape = stacked_shape(given);
    const bool open = std::ranges::any_of(input.shape, [](std::int64_t n) { return n < 0; });
    if (given.front().picture) {
      fit_pictures(given, input, inputs, options);
      continue;
    }
    require_fit(input, given, shape);
    if (open && options.batch == 0) options.shapes.emplace(input.name, shape);
  }
}

std::vector<PortInfo> settled_inputs(std::vector<PortInfo> inputs, const CompileOptions& options) {
  for (PortInfo& input : inputs) {
    const auto given = options.shapes.find(input.name);
    if (given != options.shapes.end()) {
      input.shape = given->second;
    } else if (!input.shape.empty() && input.shape[0] < 0) {
      input.shape[0] = std::max<std::int64_t>(options.batch, 1);
    }
  }
  return inputs;
}

std::vector<NamedTensor> assemble(const Sources& sources,
                                  const std::vector<PortInfo>& compiled_inputs) {
  std::vector<NamedTensor> tensors;
  for (const PortInfo& input : compiled_inputs) {
    std::vector<Tensor> parts;
    for (const Source& source : sources.at(input.name)) parts.push_back(fitted(source, input));
    tensors.push_back({input.name, stacked(parts)});
    check_extents(tensors.back().tensor, sources.at(input.name), input);
  }
  return tensors;
}

std::vector<NamedTensor> random_inputs(const std::vector<PortInfo>& inputs, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<NamedTensor> tensors;
  for (const PortInfo& input : inputs) {
    Tensor tensor = Tensor::allocate(input.dtype, input.shape);
    const bool real = is_real(input.dtype);
    std::uniform_real_distribution<double> reals(-1.0, 1.0);
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      tensor.set(i, real ? reals(generator) : static_cast<double>(generator() & 1U));
    }
    tensors.push_back({input.name, std::move(tensor)});
  }
  return tensors;
}

std::size_t batch_dimension(const PortInfo& port) {
  const auto named = std::ranges::find(port.symbols, "batch");
  return named == port.symbols.end() ? 0 : static_cast<std::size_t>(named - port.symbols.begin());
}

bool is_settled(const PortInfo& port) {
  return std::ranges::all_of(port.shape, [](std::int64_t extent) { return extent >= 0; });
}

bool is_among(const std::vector<std::string>& names, const std::string& input) {
  const auto element = as_list_element(input);
  return std::ranges::find(names, input) != names.end() ||
         (element && std::ranges::find(names, element->list) != names.end());
}

std::map<std::string, Tensor> planned_values(const std::vector<std::string>& names,
                                             const Sources& sources,
                                             const std::vector<PortInfo>& settled) {
  std::map<std::string, Tensor> values;
  for (const PortInfo& port : settled) {
    if (!is_among(names, port.name) || !is_settled(port)) continue;
    values[port.name] = assemble({{port.name, sources.at(port.name)}}, {port}).front().tensor;
  }
  return values;
}

}  // namespace morton::cli
