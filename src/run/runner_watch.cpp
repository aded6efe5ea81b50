// SPDX-License-Identifier: Apache-2.0
//
// A runner whose device does not answer: the host gives it up, and frees nothing beneath the
// driver.
#include <new>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "run/runner.hpp"

namespace morton::run {

void Runner::require_not_lost() const {
  if (is_lost()) throw DeviceError(watch_.lost);
}

void Runner::await(DeviceIndex device) {
  require_not_lost();
  if (!watch_.limit.is_set()) return;
  bool is_kept = false;
  with_device_errors("waiting for the model", info(device),
                     [&] { is_kept = watch_.limit.is_kept_by(queue_of(device)); });
  if (!is_kept) give_up(device);
}

void Runner::give_up(DeviceIndex device) {
  const std::string step = step_in_flight(device);
  watch_.lost = "session: " + info(device).name + " has not answered for " +
                std::to_string(watch_.limit.milliseconds()) + " ms" +
                (step.empty() ? "" : ", at step " + step) +
                ". The session is given up, and its memory stays taken until the process ends: "
                "make another session, "
                "go on on another device (move_to), or start the process again; "
                "MORTON_ANSWER_LIMIT says how long to wait";
  require_not_lost();
  throw InternalError("run: a lost runner is not lost");
}

std::string Runner::step_in_flight(DeviceIndex device) const {
  for (std::size_t s = 0; s < times_.events.size(); ++s) {
    const Step& step = loaded_->plan().steps[s];
    const cl::Event& last = times_.events[s].last;
    if (step.device != device || last() == nullptr) continue;
    cl_int status = CL_COMPLETE;
    with_device_errors("looking at a step", info(device),
                       [&] { status = last.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(); });
    if (status > CL_COMPLETE) return "'" + step.name + "' (" + step.kernel + ")";
  }
  return "";
}

void Runner::abandon() noexcept {
  struct Abandoned {
    std::shared_ptr<const LoadedPlan> loaded;
    Indexed<DeviceIndex, cl::CommandQueue> queues;
    OwnMemory own;
    Indexed<ValueId, cl::Buffer> buffers;
    std::vector<std::unique_ptr<LaunchedStep>> launched;
    Transfers transfers;
    Writes writes;
    Lent lent;
    Times times;
    std::vector<Mapping> mapped;
  };
  auto* const left = new (std::nothrow) Abandoned{loaded_,
                                                  std::move(queues_),
                                                  std::move(own_),
                                                  std::move(buffers_),
                                                  std::move(launched_),
                                                  std::move(transfers_),
                                                  std::move(writes_),
                                                  std::move(lent_),
                                                  std::move(times_),
                                                  std::move(mapped_)};
  static_cast<void>(
      left);  // never freed: the driver may read and write there until the process ends
}

}  // namespace morton::run
