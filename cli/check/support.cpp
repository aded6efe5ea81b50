// SPDX-License-Identifier: Apache-2.0
#include "check/support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/option_names.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "morton/support.hpp"

namespace morton::cli {
namespace {

using Where = NodeSupport::Where;

constexpr std::array kPlaces{Where::device, Where::host,        Where::nowhere,
                             Where::waits,  Where::unsupported, Where::unknown};

const char* name_of(Where where) {
  switch (where) {
    case Where::device:
      return "device";
    case Where::host:
      return "host";
    case Where::nowhere:
      return "nowhere";
    case Where::waits:
      return "waits";
    case Where::unsupported:
      return "unsupported";
    case Where::unknown:
      break;
  }
  return "unknown";
}

std::ptrdiff_t count_at(const ModelSupport& support, Where where) {
  return std::ranges::count(support.nodes, where, &NodeSupport::where);
}

Json json_of(const ModelSupport& support) {
  Json nodes = Json::array();
  for (const NodeSupport& node : support.nodes) {
    nodes.push_back({{"node", node.node},
                     {"operator", node.op},
                     {"where", name_of(node.where)},
                     {"reason", with_options(node.reason)}});
  }
  Json totals = Json::object();
  for (const Where where : kPlaces) totals[name_of(where)] = count_at(support, where);
  return {{"supported", support.is_supported()},
          {"shapes_unknown", with_options(support.shapes_unknown)},
          {"totals", totals},
          {"nodes", nodes}};
}

std::string text_of(const ModelSupport& support) {
  Table table;
  table.columns = {{"node"}, {"operator"}, {"where"}};
  std::string reasons;
  for (const NodeSupport& node : support.nodes) {
    const bool unknown = node.where == Where::unknown;
    table.rows.push_back({node.node, node.op,
                          fmt::format("{}{}{}", name_of(node.where), unknown ? ": " : "",
                                      unknown ? with_options(node.reason) : "")});
    const bool has_reason = node.where == Where::unsupported || node.where == Where::waits;
    if (has_reason) reasons += with_options(node.reason) + "\n";
  }
  std::string totals;
  for (const Where where : kPlaces) {
    totals += fmt::format("{}{}: {}", totals.empty() ? "" : ", ", name_of(where),
                          count_at(support, where));
  }
  std::string text = to_text(table, Format::table) + "\n";
  if (!reasons.empty()) text += reasons + "\n";
  text += fmt::format("{}\nsupported: {}\n", totals, support.is_supported() ? "yes" : "no");
  if (support.shapes_unknown.empty()) return text;
  return text + fmt::format("looked at without shapes: {}\n", with_options(support.shapes_unknown));
}

}  // namespace

int show_support(const ModelOptions& model, const ResultOptions& result) {
  const ModelSupport support = model_support(read_model(model), compile_options(model));
  emit(for_people(result.format) ? text_of(support) : to_text(json_of(support), result.format),
       result.path);
  return support.is_supported() ? 0 : kCheckFailed;
}

}  // namespace morton::cli
