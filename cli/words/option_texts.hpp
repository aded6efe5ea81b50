// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "morton/tensor.hpp"

/// What the texts of options say, without a device or a model.
namespace morton::cli {

/// Milliseconds of "3s", "200ms", "50us", "2m" or "1h"; throws UsageError.
[[nodiscard]] double parse_duration_ms(const std::string& text);

/// Bytes of "8MiB", "512KiB", "1GiB" or "4096"; throws UsageError that names the option `what`.
[[nodiscard]] std::int64_t parse_bytes(const std::string& what, const std::string& text);

/// Extents of "1x3x224x224"; throws UsageError.
[[nodiscard]] Shape parse_shape(const std::string& text);
/// The same for the option `what`, with an example of its own.
[[nodiscard]] std::vector<std::int64_t> parse_extents(const std::string& what,
                                                      const std::string& text,
                                                      const std::string& example);

/// Shapes by input, of texts such as "input:1x3x224x224"; throws UsageError.
[[nodiscard]] std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts);

/// The parts between commas; one part, maybe empty, where there is none.
[[nodiscard]] std::vector<std::string> split_at_commas(const std::string& text);

/// Kernels by family, of texts such as "gemm=gemm.naive"; throws UsageError.
[[nodiscard]] std::map<std::string, std::string> parse_use(const std::vector<std::string>& texts);

/// Tunables by kernel, of texts such as "gemm.tile:TILE_M=8,TILE_N=4"; throws UsageError.
[[nodiscard]] std::map<std::string, std::map<std::string, std::int64_t>> parse_set(
    const std::vector<std::string>& texts);

}  // namespace morton::cli
