// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/load.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// Versions of ONNX's operator set that a model may ask for.
inline constexpr std::int64_t kLeastOpset = 1;
inline constexpr std::int64_t kMostOpset = kNewestOpset;

/// The graph of an ONNX model: its nodes in an order in which each follows its producers,
/// initializers and Constant nodes as constants, inputs as the model declares them, open extents by
/// name. Whether an operator is known, and what shapes result, is not looked at.
///
/// Every node gets a name of its own ("Conv_3" where the model gives none); outputs that the model
/// leaves out are kNoTensor, as absent inputs are. External data must lie beneath the model's
/// folder, unless `options` say otherwise. The files are mapped: they must not change while the
/// graph is in use (replacing one by another of its name is no change). Weights take host memory
/// while they are read only.
///
/// Throws ModelError for a file that is no ONNX model, is damaged or contradicts itself (cycles,
/// unknown names), UnsupportedError for what Morton cannot take in: other operator sets and
/// domains, maps, sparse tensors, strings as elements, lists of lists, and what passes a
/// limit. Each names the node or tensor.
[[nodiscard]] Graph import_onnx(const std::filesystem::path& path, const LoadOptions& options = {});

/// As above, from memory; `where` names the model in messages, `folder` holds its external data (an
/// empty path: there are none). Nothing refers to `bytes` afterwards.
[[nodiscard]] Graph import_onnx(std::string_view bytes, const std::string& where,
                                const std::filesystem::path& folder = {},
                                const LoadOptions& options = {});

/// The tensor in a TensorProto file, as ONNX's test data are kept. Throws ModelError,
/// UnsupportedError.
[[nodiscard]] NamedTensor read_onnx_tensor(const std::filesystem::path& path);

/// The tensors in a file of ONNX's test data that is of an input or output of this form: the
/// elements of a list, or one; nothing where an optional value is not there. Throws ModelError,
/// UnsupportedError.
[[nodiscard]] std::optional<std::vector<Tensor>> read_onnx_value(const std::filesystem::path& path,
                                                                 const ValueForm& form);

}  // namespace morton::formats
