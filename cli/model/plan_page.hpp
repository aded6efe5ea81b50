// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/output.hpp"

namespace morton::cli {

/// What a page about a plan is told.
struct PlanPage {
  std::string model;
  std::string precision;
  bool why = false;  ///< with all that was considered
};

/// A plan (plan_json of morton/compile.hpp) as a page for a browser.
[[nodiscard]] std::string page_of(const Json& plan, const PlanPage& about);

}  // namespace morton::cli
