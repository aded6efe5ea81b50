// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "plan/ir/plan.hpp"

namespace morton::run {

class WeightFile;

/// The packed weights of a plan that take turns on the device (Value::is_streamed).
class StreamedWeights {
 public:
  StreamedWeights() = default;
  /// Room for those of the plan in a file of the folder, or of the system's for temporary files
  /// where that is empty; no file where the plan streams none. Throws UsageError as WeightFile
  /// does.
  StreamedWeights(const Plan& plan, const std::string& folder);

  /// The bytes of a streamed value.
  [[nodiscard]] std::span<std::byte> bytes_of(ValueId value) const;
  /// What was written stays in the file alone, as far as the system wants its memory.
  void written() const;

 private:
  Indexed<ValueId, std::span<std::byte>> bytes_;  ///< by value; names of one memory have the same
  std::shared_ptr<WeightFile> file_;
};

/// Brings streamed weights to their places while a runner's steps are enqueued: by a queue of its
/// own, one step ahead of the step that reads them. Belongs to one runner.
class WeightTurns {
 public:
  /// `buffers` are the runner's, by value; they and the other two must outlive the object.
  WeightTurns(const Plan& plan, const StreamedWeights& weights, const OpenClDevice& device,
              const Indexed<ValueId, cl::Buffer>& buffers);

  void begin_run();
  /// Enqueues the copies that may begin once the steps before `step` have ended, and lets what is
  /// enqueued on `queue` from now on wait for what `step` reads. Throws cl::Error.
  void before_step(std::size_t step, const cl::CommandQueue& queue);

 private:
  struct Turn {
    ValueId value;
    std::size_t begins = 0;  ///< the step behind whose predecessors its place is free
  };
  const StreamedWeights& weights_;
  const Indexed<ValueId, cl::Buffer>& buffers_;
  cl::CommandQueue queue_;
  std::vector<Turn> turns_;                  ///< by `begins`
  std::vector<std::vector<ValueId>> reads_;  ///< by step, the roots of what it reads
  std::size_t next_ = 0;                     ///< of the turns
  Indexed<ValueId, cl::Event> arrivals_;     ///< of this run, until a step has waited
};

/// The turns of the weights on a plan's first device; null where it streams none.
[[nodiscard]] std::shared_ptr<WeightTurns> turns_of(const Plan& plan,
                                                    const StreamedWeights& weights,
                                                    const OpenClDevice& device,
                                                    const Indexed<ValueId, cl::Buffer>& buffers);

}  // namespace morton::run
