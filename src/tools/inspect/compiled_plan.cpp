// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/compiled_plan.hpp"

#include <nlohmann/json.hpp>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "base/rooms.hpp"
#include "plan/ir/print_json.hpp"
#include "run/loaded_plan.hpp"

namespace morton {

std::string plan_json(const CompiledModel& model, SettingPrinter printer) {
  return plan::to_json(api::Inside::of(model)->loaded->plan(), printer).dump();
}

}  // namespace morton
