// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "common/device_buffers.hpp"
#include "morton/compile.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// Names of the kernels of the steps that compute, joined by " + ".
[[nodiscard]] std::string computing_kernels(const std::vector<StepInfo>& steps);
/// "4x16" of a step.
[[nodiscard]] std::string work_group_of(const StepInfo& step);
/// Coarsest type in which any step holds a value: f32, f16, tf32 or bf16; u8 or i8 of
/// operands that are bytes.
[[nodiscard]] DType stored_type_of(const std::vector<StepInfo>& steps);
[[nodiscard]] double unit_roundoff_of(const std::vector<StepInfo>& steps);

/// A kernel or recipe of the catalogue, or what the plan chose.
class KernelContender : public Contender {
 public:
  /// Each set of operands is a session of its own; several share a queue.
  /// `sums` is CompileOptions::Precision's.
  KernelContender(std::string name, const CompiledModel& model, DType sums, std::size_t sets);

  [[nodiscard]] About about() const override;
  /// Whether a step runs the entry of this name.
  [[nodiscard]] bool runs(const std::string& entry) const;

 protected:
  Tensor compute(const Inputs& inputs) override;
  void enqueue(std::size_t set, Part part) override;
  void wait() override;
  [[nodiscard]] bool has_packing() const override;
  std::optional<double> device_ms(int runs) override;
  [[nodiscard]] double unit_roundoff() const override {
    return unit_roundoff_with(unit_roundoff_of(steps_), sums_);
  }

 private:
  std::vector<StepInfo> steps_;
  DType sums_;
  DeviceQueue queue_;              ///< of all sessions; null with one, which has its own
  std::vector<Session> sessions_;  ///< by set
  std::optional<Event> last_;
};

}  // namespace morton::cli
