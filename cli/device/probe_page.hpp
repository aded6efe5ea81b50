// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "device/probe_section.hpp"
#include "morton/tools/probe.hpp"
#include "pages/page.hpp"

namespace morton::cli {

/// The peaks as sections of a page: a roofline, arithmetic, memory, transfers.
[[nodiscard]] std::vector<pages::Section> page_sections(const ProbeResult& result);

/// What a probe by name found: its figures, and its tables as text.
[[nodiscard]] pages::Section page_section(const std::string& name, const ProbeSection& found);

/// A page about a device with such sections, of one probe or of several.
[[nodiscard]] std::string page_of(const Device& device, std::vector<pages::Section> sections);

}  // namespace morton::cli
