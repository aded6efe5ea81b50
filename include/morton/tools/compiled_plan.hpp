// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/export.hpp"

namespace morton {

namespace plan {
struct Plan;
}

/// A model planned for described devices, as `plan_text` and `plan_json` of morton/compile.hpp do,
/// once for whatever is printed of it.
class MORTON_API PlannedModel {
 public:
  /// Throws as they do.
  PlannedModel(const Model& model, const std::vector<std::string>& device_jsons,
               const CompileOptions& options = {});

  [[nodiscard]] std::string text(PlanDetail detail, SettingPrinter printer = print_setting) const;
  [[nodiscard]] std::string json(SettingPrinter printer = print_setting) const;

 private:
  std::shared_ptr<const plan::Plan> plan_;
};

/// The plan of a compiled model for programs, as `plan_json` of morton/compile.hpp gives it.
[[nodiscard]] MORTON_API std::string plan_json(const CompiledModel& model,
                                               SettingPrinter printer = print_setting);

}  // namespace morton
