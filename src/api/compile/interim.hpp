// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// Why `options` ask for a plan that answers at once and the model gets none; empty where it gets
/// one, or where none is asked for.
[[nodiscard]] Message why_not_interim(const Model& model, const CompileOptions& options,
                                      const std::vector<Device>& devices);

/// The same for a plan that is only shown, for devices that need not be there.
[[nodiscard]] Message why_no_interim_plan(const Model& model, const CompileOptions& options,
                                          std::size_t devices);

/// The model with an interim plan, of kernels in their generic forms (catalogue/generic.hpp), which
/// all models share; null where the kernels of the plan that the job leads to are all built, so
/// that nothing need be waited for. Where they are built with the interim plan's, the stage is
/// `final`: that plan takes its place at once. Throws what `carry_out` throws.
[[nodiscard]] std::shared_ptr<CompiledState> compile_interim(const Job& job, const Device& device);

/// prepare_interim_kernels, which ends when `stop` is asked for.
CompileReport::Kernels build_interim_kernels(const Device& device, std::stop_token stop);

}  // namespace morton::api
