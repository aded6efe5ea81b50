// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/device.hpp"

namespace morton::cli {

/// How one of ONNX's tests came out.
struct ConformanceResult {
  enum class Outcome : std::uint8_t {
    device,       ///< right, computed by the device (or nothing was to be computed)
    host,         ///< right, and known when the model was planned: shape arithmetic
    unsupported,  ///< refused before anything ran
    disputed,     ///< not what the test says, which contradicts ONNX's own text
    failed,       ///< wrong, or an error
  } outcome = Outcome::failed;
  std::string name;           ///< of its folder
  std::string operators;      ///< the operator that it tests, or "several"
  std::string reason;         ///< why it is unsupported, disputed or failed
  bool shapes_alone = false;  ///< its model computes shapes, and nothing with elements
};

[[nodiscard]] const char* word_of(ConformanceResult::Outcome outcome);

/// Folders below `folder` that hold a model.onnx and a test_data_set_0, by name.
[[nodiscard]] std::vector<std::filesystem::path> find_conformance_cases(
    const std::filesystem::path& folder);

/// Plans the model of `folder` anew and runs it on each of its data sets. Results must have ONNX's
/// types and shapes, and lie within |got - expected| <= 1e-7 + 1e-3 |expected|, as ONNX's own test
/// runner asks. Every error becomes a result.
[[nodiscard]] ConformanceResult run_conformance_case(const std::filesystem::path& folder,
                                                     const Device& device,
                                                     const CompileOptions& options);

}  // namespace morton::cli
