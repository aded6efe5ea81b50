// SPDX-License-Identifier: Apache-2.0
#include "api/compile/interim.hpp"

#include <algorithm>

#include "api/compile/carry_out.hpp"
#include "api/inside.hpp"
#include "graph/architectures.hpp"
#include "plan/make_plan.hpp"
#include "run/program_builds.hpp"

namespace morton::api {
namespace {

bool has_states(const Model& model) {
  return std::ranges::any_of(Inside::of(model).tensors, [](const GraphTensor& tensor) {
    return tensor.kind == GraphTensor::Kind::state;
  });
}

/// The option that says which kernels compute, if one does: generic kernels would not obey it.
Message kernel_choice_in(const CompileOptions& options) {
  if (!options.use.empty()) return setting("use");
  if (!options.exclude.empty()) return setting("exclude");
  if (!options.local.empty()) return setting("local");
  if (!options.tunables.empty()) return setting("tunables");
  if (!options.catalogue_files.empty()) return setting("catalogue_files");
  if (options.precision.operands != DType::f32) return setting("precision");
  if (options.limits.kernel_ms) return setting("max_kernel_ms");
  if (options.limits.weight_bytes) return setting("weight_limit_bytes");
  return {};
}

/// The job with an interim plan.
std::shared_ptr<CompiledState> carry_out_generic(const Job& job, const Device& device) {
  Job interim = job;
  interim.policy = std::make_shared<const KernelPolicy>(job.policy->generic());
  interim.other_shapes = CompileOptions::OtherShapes::leave;
  interim.also.clear();
  std::shared_ptr<CompiledState> state = carry_out(interim, device);
  state->report.stage = CompileReport::Stage::interim;
  return state;
}

}  // namespace

Message why_not_interim(const Model& model, const CompileOptions& options,
                        const std::vector<Device>& devices) {
  if (options.start == CompileOptions::Start::ready) return {};
  if (Inside::of(devices.front())->cache_folder().empty()) {
    return "there is no cache folder, which would keep the generic kernels of an interim plan";
  }
  return why_no_interim_plan(model, options, devices.size());
}

Message why_no_interim_plan(const Model& model, const CompileOptions& options,
                            std::size_t devices) {
  if (options.start == CompileOptions::Start::ready) return {};
  if (devices != 1) return "a model over several devices has no interim plan";
  if (has_states(model) || !options.feeds.empty()) return "a model with states has no interim plan";
  if (const Message choice = kernel_choice_in(options); !choice.empty()) {
    return choice + " says which kernels compute, so there is no interim plan";
  }
  return {};
}

std::shared_ptr<CompiledState> compile_interim(const Job& job, const Device& device) {
  OpenClDevice& opened = *Inside::of(device);
  const Plan plan = make_plan(job.subject->graph(), opened.info(), *job.policy);
  if (is_built(plan, opened)) return nullptr;
  auto interim = carry_out_generic(job, device);
  // Where all kernels of the model are its interim plan's too, they are built by now.
  if (is_built(plan, opened)) interim->report.stage = CompileReport::Stage::final;
  return interim;
}

CompileReport::Kernels build_interim_kernels(const Device& device, std::stop_token stop) {
  if (Inside::of(device)->cache_folder().empty()) return {};
  CompileOptions options;
  options.unkept = CompileOptions::Unkept::refuse;
  Job job = job_of(Inside::make(generic_kernels_network()), options, store_of(options, device),
                   Inside::of(device)->info());
  job.observer.stop = std::move(stop);
  return carry_out_generic(job, device)->report.kernels;
}

}  // namespace morton::api

namespace morton {

CompileReport::Kernels prepare_interim_kernels(const Device& device) {
  return api::build_interim_kernels(device, {});
}

}  // namespace morton
