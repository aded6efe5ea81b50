// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "device/probe_names.hpp"
#include "device/probe_section.hpp"

namespace morton::cli {
namespace {

using Kind = WorkGroupOrder::Kind;

/// Wider tables are for programs.
constexpr std::int64_t kMostPrinted = 64;
constexpr double kOrderCell = 20.0;    ///< pixels of a work-group
constexpr double kOrderWidth = 460.0;  ///< the least, for a line of text

std::string order_name(const WorkGroupOrder::Repetition& repetition) {
  const char* const nearly = repetition.pieces > 1 ? ", nearly" : "";
  switch (repetition.kind) {
    case Kind::dimension_0:
      return std::string("dimension 0 fastest") + nearly;
    case Kind::dimension_1:
      return std::string("dimension 1 fastest") + nearly;
    case Kind::stripes_0:
      return "stripes, dimension 0 fastest";
    case Kind::stripes_1:
      return "stripes, dimension 1 fastest";
    case Kind::none:
      break;
  }
  return "none of these";
}

Table summary_table(const WorkGroupOrder& order) {
  using enum Table::Align;
  Table table;
  table.columns = {
      {"repetition", right}, {"order seen"}, {"pieces", right}, {"displacement", right}};
  for (std::size_t i = 0; i < order.repetitions.size(); ++i) {
    const auto& repetition = order.repetitions[i];
    table.rows.push_back({std::to_string(i + 1), order_name(repetition),
                          std::to_string(repetition.pieces),
                          fmt::format("{:.1f} %", 100.0 * repetition.displacement)});
  }
  return table;
}

/// Dimension 0 goes down, dimension 1 across.
std::string tickets_text(const WorkGroupOrder& order, Format format) {
  const auto [rows, columns] = order.groups;
  if (columns > kMostPrinted) {
    return fmt::format("Tickets are not printed beyond {} columns; --format json has them.\n",
                       kMostPrinted);
  }
  Table table;
  table.columns.push_back({"0 \\ 1", Table::Align::right});
  for (std::int64_t j = 0; j < columns; ++j) {
    table.columns.push_back({std::to_string(j), Table::Align::right});
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<std::string> row{std::to_string(i)};
    for (std::int64_t j = 0; j < columns; ++j) {
      row.push_back(std::to_string(order.repetitions.front().tickets[i + j * rows]));
    }
    table.rows.push_back(std::move(row));
  }
  return "Tickets of repetition 1; ids of dimension 0 go down, of dimension 1 across:\n\n" +
         to_text(table, format);
}

std::string order_text(const WorkGroupOrder& order, Format format) {
  return fmt::format(
             "order of {} x {} work-groups, each of one work-item that takes the next ticket\n\n",
             order.groups[0], order.groups[1]) +
         to_text(summary_table(order), format) + "\n" + tickets_text(order, format);
}

Json order_json(const WorkGroupOrder& order) {
  Json repetitions = Json::array();
  for (const auto& repetition : order.repetitions) {
    repetitions.push_back({{"order", order_name(repetition)},
                           {"pieces", repetition.pieces},
                           {"displacement", repetition.displacement},
                           {"tickets", repetition.tickets}});
  }
  return {{"groups", order.groups}, {"repetitions", repetitions}};
}

Json order_records(const WorkGroupOrder& order) {
  Json list = Json::array();
  for (std::size_t r = 0; r < order.repetitions.size(); ++r) {
    const auto& tickets = order.repetitions[r].tickets;
    for (std::size_t at = 0; at < tickets.size(); ++at) {
      const auto group = static_cast<std::int64_t>(at);
      const auto ticket = static_cast<double>(tickets[at]);
      add(list, {"order",
                 fmt::format("group {} {}", group % order.groups[0], group / order.groups[0]),
                 static_cast<std::int64_t>(r + 1),
                 "ticket",
                 {ticket, ticket, 1}});
    }
  }
  return list;
}

/// Groups coloured from the first (dark) to the last, and the path through them.
std::vector<pages::Figure> order_figures(const WorkGroupOrder& order) {
  const auto [rows, columns] = order.groups;
  const std::vector<std::int64_t>& tickets = order.repetitions.front().tickets;
  const auto count = static_cast<double>(tickets.size());
  pages::Pen pen;
  std::vector<std::string> path(tickets.size());
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t ticket = tickets[i + j * rows];
      const double x = static_cast<double>(j) * kOrderCell;
      const double y = static_cast<double>(i) * kOrderCell;
      pen.bar(x, y, kOrderCell, kOrderCell, 0, fmt::format("({}, {}): {}", i, j, ticket),
              1.0 - 0.9 * static_cast<double>(ticket) / count);
      path[ticket] = fmt::format("{},{}", x + kOrderCell / 2.0, y + kOrderCell / 2.0);
    }
  }
  pen.add(fmt::format("<polyline class=\"edge\" points=\"{}\"/>\n", fmt::join(path, " ")));
  const double width = std::max(kOrderWidth, static_cast<double>(columns) * kOrderCell);
  const std::string seen = order_name(order.repetitions.front());
  return {{fmt::format("Order of {} x {} work-groups: {}", rows, columns, seen),
           std::move(pen).drawing(width, static_cast<double>(rows) * kOrderCell),
           "Dimension 0 goes down, dimension 1 across. Dark groups begin first.",
           fmt::format("{} squares, and the path through them.", tickets.size())}};
}

}  // namespace

ProbeSection section_of(const WorkGroupOrder& order, Format format) {
  return {order_text(order, format), order_json(order), order_records(order), order_figures(order)};
}

}  // namespace morton::cli
