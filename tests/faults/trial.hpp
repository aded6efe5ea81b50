// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "faults/opencl_layer.hpp"
#include "faults/scenario.hpp"

namespace morton::faults {

/// One thing that fails while a scenario acts: a call of OpenCL, or (function -1) an allocation.
struct Fault {
  int function = -1;
  long call = 0;
  int error = 0;
  FaultWay way = kFaultOnce;
};

/// "clFinish, call 3, fails with -5"
[[nodiscard]] std::string text_of(const Fault& fault);

/// What came of a trial.
struct Verdict {
  enum class Kind {
    reported,     ///< one error that names the call and the driver's answer
    recovered,    ///< the right answer, bit for bit
    close,        ///< the right answer but for rounding: other kernels took over
    not_reached,  ///< the scenario made fewer such calls this time
    wrong,        ///< a defect: `why` says which
  } kind = Kind::reported;
  std::string why;
};

/// What a scenario does when nothing fails.
struct Clean {
  Answer answer;
  std::vector<long> calls;  ///< by function
  long allocations = 0;
};

/// Lets it act three times without a fault: the last one counts.
[[nodiscard]] Clean clean_run(Scenario& scenario);
/// Opens the scenario, lets it act under the fault and again without, and closes it.
[[nodiscard]] Verdict try_fault(Scenario& scenario, const Fault& fault, const Clean& clean);

/// Which faults are tried: of each function that is called the first, the last and `some` random
/// calls, each with every error; in a `sample`, the first call with one error that changes from
/// function to function. `seed` chooses.
struct Choice {
  unsigned seed = 1;
  int some = 2;
  bool sample = false;
  bool calls = true;           ///< of OpenCL
  long allocation_stride = 1;  ///< 0: no allocation fails
};
[[nodiscard]] std::vector<Fault> faults_for(const Clean& clean, const Choice& choice);

}  // namespace morton::faults
