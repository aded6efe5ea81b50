// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/expectation.hpp"
#include "morton/session.hpp"
#include "plan/tuned.hpp"

namespace morton {

/// What all subjects of one product share: operands and what must come out.
struct SubjectProblem {
  GemmShape shape;
  Expectation integers, reals;

  SubjectProblem(const GemmShape& gemm, std::uint64_t seed);
};

/// A kernel with certain values on a product of constants: built, checked, and ready to be timed.
class TuneSubject {
 public:
  /// Builds it and compares its results: on small integers, which must be exact, and on random
  /// numbers, within the error bound. `options` has the catalogue files. Throws UnsupportedError or
  /// UsageError where it cannot be, DeviceError where the driver fails, WrongResult.
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

}  // namespace morton
