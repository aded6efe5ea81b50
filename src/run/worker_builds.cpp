// SPDX-License-Identifier: Apache-2.0
#include "run/worker_builds.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/open/quirks.hpp"
#include "device/workers/job_queue.hpp"
#include "device/workers/kernel_job.hpp"

namespace morton::run {
namespace {

/// A step that launches a kernel, and its plan.
struct LaunchInPlan {
  const Plan* plan;
  const Step* step;
};

/// The first launch of each kernel, by the instance's key.
std::map<std::string_view, LaunchInPlan> first_launches(const Plan& plan,
                                                        std::span<const Plan> others) {
  std::map<std::string_view, LaunchInPlan> launches;
  const auto add = [&](const Plan& one) {
    for (const auto* steps : {&one.load_steps, &one.steps}) {
      for (const Step& step : *steps) {
        const KernelLaunch* launch = step.launch();
        if (launch != nullptr)
          launches.try_emplace(one.instances[launch->instance].key, &one, &step);
      }
    }
  };
  add(plan);
  for (const Plan& other : others) add(other);
  return launches;
}

JobArgument job_argument(const StepArgument& argument, const Values& values) {
  using Kind = JobArgument::Kind;
  const PassedValue* passed = argument.value();
  if (passed == nullptr) return {Kind::integer, *argument.integer(), 0, 0};
  if (passed->image.source != PlannedImage::Source::none) {
    const PlannedImage& image = passed->image;
    return {image.texel == DType::f16 ? Kind::image_f16 : Kind::image_f32, 0, image.width,
            image.height};
  }
  return {Kind::buffer, std::max<std::int64_t>(values[passed->id].bytes, 1), 0, 0};
}

KernelJob job_for(const InstanceSource& instance, const LaunchInPlan& first,
                  const MissingProgram& program, OpenClDevice& device) {
  const KernelLaunch& launch = *first.step->launch();
  KernelJob job{device.info().name,
                device.info().driver.version,
                device.info().id,
                instance.text,
                instance.function,
                device.programs().options(),
                launch.global,
                launch.local,
                {},
                program.key,
                program.owner,
                program.path.string()};
  for (const StepArgument& argument : first.step->arguments) {
    job.arguments.push_back(job_argument(argument, first.plan->values));
  }
  return job;
}

/// Jobs, and the device of each.
struct PlannedJobs {
  std::vector<KernelJob> jobs;
  std::vector<OpenClDevice*> devices;
};

PlannedJobs jobs_for(const Plan& plan, std::span<const Plan> others, const OpenClDevices& devices) {
  PlannedJobs planned;
  for (const auto& [key, first] : first_launches(plan, others)) {
    OpenClDevice& device = *devices[first.step->device];
    if (!has_effect(device.info(), QuirkEffect::one_build_at_a_time)) continue;
    const InstanceSource& instance = first.plan->instances[first.step->launch()->instance];
    const auto program = device.programs().missing(instance.text, {instance.function});
    if (!program) continue;
    planned.jobs.push_back(job_for(instance, first, *program, device));
    planned.devices.push_back(&device);
  }
  return planned;
}

}  // namespace

void require_wanted(const std::stop_token& stop) {
  if (stop.stop_requested()) throw DeviceError("compile: nobody waits for the model any more");
}

WorkerBuilds build_by_workers(const Plan& plan, std::span<const Plan> others,
                              const OpenClDevices& devices, const std::function<void()>& one_done,
                              const std::stop_token& stop) {
  WorkerBuilds result;
  require_wanted(stop);
  const PlannedJobs planned = jobs_for(plan, others, devices);
  if (planned.jobs.empty()) return result;
  const std::string helper = compile_helper();
  if (helper.empty()) {
    result.problems.emplace_back(
        "kernels are built one after the other: libexec/morton/morton-compile, which builds them "
        "in parallel, is not beside the library");
    return result;
  }
  const Stopwatch watch;
  std::vector<JobOutcome> outcomes;
  try {
    outcomes = carry_out_jobs(helper, planned.jobs, one_done, stop);
  } catch (const Error& error) {
    result.unkept = error.message();
    return result;
  }
  require_wanted(stop);
  const auto full = std::ranges::find(outcomes, JobOutcome::End::unkept, &JobOutcome::end);
  if (full != outcomes.end()) {
    const auto at = static_cast<std::size_t>(full - outcomes.begin());
    const std::string why = planned.devices[at]->programs().why_not_kept();
    result.unkept = why.empty() ? full->problem : why;
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].end == JobOutcome::End::unkept) continue;
    if (outcomes[i].end == JobOutcome::End::failed) {
      if (!result.unkept.empty()) continue;  // no more were begun
      result.problems.push_back("kernel " + planned.jobs[i].function +
                                " is built in this process: " + outcomes[i].problem);
      continue;
    }
    ++result.kernels;
    if (outcomes[i].end == JobOutcome::End::built_by_others) continue;
    planned.devices[i]->programs().built_by_worker(planned.jobs[i].key);
    result.compiled += outcomes[i].compiled;
  }
  result.build_ms = watch.milliseconds();
  return result;
}

}  // namespace morton::run
