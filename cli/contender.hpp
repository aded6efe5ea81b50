// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/session.hpp"
#include "single_problem.hpp"

namespace morton::cli {

/// Names of the kernels of the steps that compute, joined by " + ".
[[nodiscard]] std::string computing_kernels(const std::vector<StepInfo>& steps);
/// Unit roundoff of the coarsest type in which any step holds a value.
[[nodiscard]] double unit_roundoff_of(const std::vector<StepInfo>& steps);

/// A kernel (or recipe) that takes part in a comparison: compiled, checked, timed.
class Contender {
 public:
  Contender(std::string name, const CompiledModel& model);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Runs on the expectation's inputs, which stay set.
  [[nodiscard]] Expectation::Comparison check(const Expectation& expectation);
  /// Greatest error that `check` saw.
  [[nodiscard]] double error() const { return error_; }

  /// Takes one sample of each clock. The first call finds how often to run for a sample of 20 ms.
  void sample();
  /// Milliseconds of the kernel alone, on the device's clock; empty where the device has none.
  [[nodiscard]] const std::vector<double>& kernel_ms() const { return kernel_ms_; }
  /// Milliseconds with packing and unpacking, on the host's clock: back to back, one final wait.
  [[nodiscard]] const std::vector<double>& whole_ms() const { return whole_ms_; }

  [[nodiscard]] const std::vector<StepInfo>& steps() const { return steps_; }
  /// "4x16" of each step that computes.
  [[nodiscard]] std::string work_group() const;
  /// "TILE_M=6 TILE_N=64" of each step that computes with tunables.
  [[nodiscard]] std::string tunables() const;
  /// Whether a step runs the entry of this name.
  [[nodiscard]] bool runs(const std::string& entry) const;

 private:
  /// Runs `count` times and waits once; milliseconds of one.
  double run_ms(int count);
  [[nodiscard]] std::optional<double> last_kernel_ms();

  std::string name_;
  Session session_;
  std::vector<StepInfo> steps_;
  int count_ = 0;  ///< runs in a sample of the host's clock; 0: not known yet
  double error_ = 0.0;
  std::vector<double> kernel_ms_, whole_ms_;
};

/// Of the kernels that were to take part, those that do, and what became of the others.
struct Field {
  struct Absent {
    std::string name, why;
  };
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<Absent> rejected;  ///< they cannot compute this problem
  std::vector<Absent> failed;    ///< they should, but the driver or their result is wrong
};

/// Compiles the problem with each kernel of its family, or with `options.use` alone, or (with
/// neither `every` nor `use`) as the plan chooses; checks each on integers and on random numbers.
enum class Selection : std::uint8_t { every, as_asked };
[[nodiscard]] Field make_field(const SingleProblem& problem, const Device& device,
                               const CompileOptions& options, Selection selection,
                               const std::vector<const Expectation*>& expectations);

}  // namespace morton::cli
