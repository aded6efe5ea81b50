// SPDX-License-Identifier: Apache-2.0
#include "api/compile/carry_out.hpp"

#include <algorithm>
#include <iterator>

#include "api/compile/self_test.hpp"
#include "api/compile/untried.hpp"
#include "api/inside.hpp"
#include "run/loaded_plan.hpp"

namespace morton::api {

std::shared_ptr<CompiledState> carry_out(const Job& job, const Device& device) {
  // The reference's bounds are those of f32. A trial has all weights at once.
  const bool tries = job.self_test == CompileOptions::SelfTest::once &&
                     job.policy->options().precision == DType::f32 &&
                     !job.policy->options().weight_limit_bytes &&
                     !Inside::of(device)->cache_folder().empty();
  const auto state = tries ? compile_tried(job, device) : compile_untried(job, device);
  take_fallbacks(state->loaded->plan(), job.fallback, state->report);
  std::ranges::copy(job.too_long, std::back_inserter(state->report.notes));
  return state;
}

std::shared_ptr<CompiledState> carry_out_anew(const CompiledState& compiled, const Device& device) {
  const Job job = job_of(*compiled.model, compiled.options, store_of(compiled.options, device),
                         Inside::of(device)->info());
  auto state = carry_out(job, device);
  state->options = compiled.options;
  return state;
}

}  // namespace morton::api
