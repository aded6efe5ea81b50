// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "morton/session.hpp"

namespace morton::api {

/// Facts of devices, which are JSON already, as one object with the notes.
[[nodiscard]] std::string devices_json(const std::vector<std::string>& devices,
                                       const std::vector<Message>& notes);
/// The facts of one, with the notes among them.
[[nodiscard]] std::string device_json(const std::string& facts, const std::vector<Message>& notes);
[[nodiscard]] std::string report_json(const CompileReport& report);
[[nodiscard]] std::string step_times_json(const std::vector<StepTime>& times);

}  // namespace morton::api
