// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "morton/session.hpp"
#include "morton/tools/expectation.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::tools {

/// What all subjects of one problem share: operands and what must come out.
struct SubjectProblem {
  /// One set of operands. Weights are constants of the model, and so are both matrices of a
  /// product: a run is the kernel alone.
  struct Data {
    Model model;
    std::vector<NamedTensor> inputs;
    /// What is wrong with a result, held in types of this unit roundoff at the coarsest; or empty.
    std::function<std::string(const Tensor& dst, double unit_roundoff)> complaint;
  };
  Family family;
  std::vector<Data> data;

  /// Of a product: small integers, which must be exact, and random numbers. Of others both within
  /// the reference's bound, where the work is large on some output channels only. Throws as
  /// model_of.
  SubjectProblem(const TunedProblem& problem, std::uint64_t seed);
};

/// A kernel with certain values on a problem: built, checked, and ready to be timed.
class TuneSubject {
 public:
  /// Builds it and compares its results. `options` has the catalogue files. Throws UnsupportedError
  /// or UsageError where it cannot be, DeviceError where the driver fails, WrongResult.
  TuneSubject(const SubjectProblem& problem, const std::string& kernel, const Environment& tunables,
              const Device& device, const CompileOptions& options);

  class WrongResult : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  /// Milliseconds of one run: `count` runs back to back, one wait at the end; of the computing
  /// steps only, should others be left.
  [[nodiscard]] double run_ms(int count);

 private:
  /// Share of the computing steps in the device's time; 1 where there are no others.
  [[nodiscard]] double measure_compute_share();

  std::unique_ptr<Session> session_;
  double compute_share_ = 1.0;
};

}  // namespace morton::tools
