// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/kernel_check.hpp"
#include "tools/tuning/worker_client.hpp"

namespace morton {

struct KernelChecker::State {
  tools::WorkerClient client;
};

KernelChecker::KernelChecker(Options options)
    : state_(new State{
          {std::move(options.worker),
           tools::WorkerSetting{std::move(options.device), std::move(options.catalogue_files)},
           options.timeout_ms}}) {}

KernelChecker::~KernelChecker() = default;

KernelCheck KernelChecker::check(const std::string& kernel) { return state_->client.check(kernel); }

}  // namespace morton
