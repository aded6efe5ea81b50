// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "morton/tools/build.hpp"
#include "tools/tuning/worker_client.hpp"

namespace morton {

struct KernelBuilder::State {
  tools::WorkerClient worker;
};

KernelBuilder::KernelBuilder(Options options)
    : state_(new State{tools::WorkerClient(
          std::move(options.worker), {std::move(options.device), {}, 1}, options.timeout_ms)}) {}

KernelBuilder::~KernelBuilder() = default;

KernelBuild KernelBuilder::build(const KernelText& kernel) {
  if (kernel.text.empty()) throw UsageError(kernel.kernel + " has no text that could be built");
  return state_->worker.build(kernel);
}

}  // namespace morton
