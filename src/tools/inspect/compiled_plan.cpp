// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/compiled_plan.hpp"

#include <nlohmann/json.hpp>

#include "api/compile/compiled_state.hpp"
#include "api/compile/planning.hpp"
#include "api/inside.hpp"
#include "base/rooms.hpp"
#include "plan/ir/print.hpp"
#include "plan/ir/print_json.hpp"
#include "run/loaded_plan.hpp"

namespace morton {

PlannedModel::PlannedModel(const Model& model, const std::vector<std::string>& device_jsons,
                           const CompileOptions& options)
    : plan_(std::make_shared<const plan::Plan>(api::planned_for(model, device_jsons, options))) {}

std::string PlannedModel::text(PlanDetail detail, SettingPrinter printer) const {
  return plan::print(*plan_, detail, printer);
}

std::string PlannedModel::json(SettingPrinter printer) const {
  return plan::to_json(*plan_, printer).dump();
}

std::string plan_json(const CompiledModel& model, SettingPrinter printer) {
  return plan::to_json(api::Inside::of(model)->loaded->plan(), printer).dump();
}

}  // namespace morton
