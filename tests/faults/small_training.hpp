// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "morton/morton.hpp"

namespace morton::faults {

/// A network small enough that thousands of its starts are tried; and a training of it: three
/// steps, with a checkpoint in `folder` after each, or the rest of them.
[[nodiscard]] Model small_model();
[[nodiscard]] TrainerOptions small_training();
[[nodiscard]] Dataset small_data();
[[nodiscard]] TrainingRunOptions small_run(const std::string& folder);

/// Made-up numbers from 0 to 1, the same for the same seed.
[[nodiscard]] Tensor small_numbers(const Shape& shape, std::uint64_t seed);
[[nodiscard]] std::vector<NamedTensor> small_inputs(const CompiledModel& compiled,
                                                    std::uint64_t seed = 1);
[[nodiscard]] std::string bytes_of(const Tensor& tensor);
[[nodiscard]] std::string bytes_of(const std::vector<NamedTensor>& tensors);

}  // namespace morton::faults
