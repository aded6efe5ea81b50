// SPDX-License-Identifier: Apache-2.0
#include "catalogue/generic.hpp"

#include <algorithm>
#include <string>

namespace morton::catalogue {
namespace {

/// What a driver takes to build a kernel (docs/networks.md, "The first start").
constexpr double kBuildingUs = 300e3;

/// The operand's dimensions in their order.
OperandFormat row_major(OperandFormat format, std::span<const std::string_view> dimensions) {
  const std::vector<std::string> names(dimensions.begin(), dimensions.end());
  const Layout layout = Layout::row_major(static_cast<int>(names.size()));
  format.layout_text = "row-major";
  format.layout = layout;
  format.outer = 0;
  format.has_accessors = true;
  format.padding = PaddingContents::undefined;
  return format;
}

void make_generic(Entry& entry) {
  entry.where_named = false;
  auto& arguments = entry.launch.arguments;
  for (const std::string& name : *entry.launch.generic) {
    if (std::ranges::count(arguments, name) == 0) arguments.insert(arguments.begin(), name);
  }
  if (entry.takes_work()) return;
  entry.carries_epilogue = false;
  for (const auto& schema : entry.family->operands) {
    OperandFormat& format = entry.operands.at(std::string(schema.name));
    if (format.is_any() && !schema.dimensions.empty()) {
      format = row_major(std::move(format), schema.dimensions);
    }
  }
}

}  // namespace

std::shared_ptr<const Catalogue> generic_forms(const Catalogue& catalogue) {
  const auto forms = std::make_shared<Catalogue>(catalogue);
  for (Entry& entry : forms->entries_) {
    if (entry.launch.generic) {
      make_generic(entry);
    } else {
      entry.cost.building_us = kBuildingUs;
    }
  }
  return forms;
}

}  // namespace morton::catalogue
