// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/planned_model.hpp"
#include "plan/ir/print.hpp"

namespace morton::test {

/// A model and its plan, which is printed with all that was considered.
void fuzz_onnx_plan(std::string_view bytes) {
  const Plan plan = planned(prepared(import_onnx(bytes, "model.onnx")));
  (void)print(plan, PlanDetail::why);
}

}  // namespace morton::test
