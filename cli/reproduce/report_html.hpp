// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reproduce/report.hpp"

namespace morton::cli {

/// The report as one file for a browser. `command` is the line that made it.
[[nodiscard]] std::string page_of(const ReportHead& head, const std::vector<Finding>& findings,
                                  const std::string& command);

}  // namespace morton::cli
