// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/error.hpp"

namespace morton::cli {

/// "--exclude gemm.naive" for the setting `exclude`, or the command for a function of the API. What
/// has no option keeps its name.
[[nodiscard]] std::string option_text(const NamedSetting& setting);

/// What an error says, with the options of the command line for the library's settings.
[[nodiscard]] std::string message_of(const Error& error);

/// The same of a message.
[[nodiscard]] std::string with_options(const Message& text);

}  // namespace morton::cli
