// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/options.hpp"
#include "morton/model.hpp"

namespace morton::cli {

/// True where `path` is no file but the name of an architecture of `morton new`. Throws UsageError
/// that lists them where it looks like such a name and is none.
[[nodiscard]] bool names_architecture(const std::string& path);

/// The model of the file `options.path`; where no file has the name, the architecture of that name
/// with the weights of seed 1. As the path of --conv runs it. Throws as Model::load.
[[nodiscard]] Model read_model(const ModelOptions& options);

}  // namespace morton::cli
