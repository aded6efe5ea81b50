// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/layout.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"
#include "pages/layout_picture.hpp"

namespace morton::cli {
namespace {

constexpr const char* kLayoutFooter =
    R"(A layout is R, C, or tiles of them: R_2_4_R has tiles of 2 rows and 4 columns, row after row. Of tensors it
is letters: NHWC, NCHW4c. Extents stand in the order of its capital letters. An offset in brackets is padding's.

With --product, LAYOUT is that of lhs. It counts the cache lines that a work-group of a product needs at once,
and how often: R17's table 8.1. That says nothing of time.

Examples:
  morton layout R_2_4_R 8x8
  morton layout C_4_2_C 8x8 --svg c_4_2_c.svg
  morton layout NCHW4c 1x8x2x2
  morton layout R_2_4_R --product C_4_2_C --group 4x16 --patch 2x2)";

struct LayoutCommand {
  std::string layout, extents, svg, rhs;
  std::string group = "4x16", patch = "2x2";
  ProductAccess access;
  ResultOptions result;
};

/// The offsets as a table; of more than two dimensions each row is one of the last.
std::string map_text(const LayoutMap& map, Format format) {
  const std::int64_t columns = map.padded.back();
  const auto rows = static_cast<std::int64_t>(map.offsets.size()) / columns;
  Table table;
  table.columns.push_back({""});
  for (std::int64_t c = 0; c < columns; ++c) {
    table.columns.push_back({fmt::format("{}", c), Table::Align::right});
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    std::string name;
    bool is_padding = false;
    std::int64_t rest = r;
    for (std::size_t d = map.padded.size() - 1; d-- > 0; rest /= map.padded[d]) {
      const std::int64_t index = rest % map.padded[d];
      name = fmt::format("{}{}{}", index, name.empty() ? "" : ",", name);
      is_padding = is_padding || index >= map.extents[d];
    }
    std::vector<std::string> row{name};
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t offset = map.offsets[r * columns + c];
      const bool in_brackets = is_padding || c >= map.extents.back();
      row.push_back(in_brackets ? fmt::format("({})", offset) : fmt::format("{}", offset));
    }
    table.rows.push_back(std::move(row));
  }
  return fmt::format("{} of {}, {} elements in memory\n\n", map.layout, shape_text(map.extents),
                     map.offsets.size()) +
         to_text(table, format);
}

int show_map(const LayoutCommand& command) {
  refuse_same_file({{"--svg", command.svg}, {"--output", command.result.path}});
  const LayoutMap map =
      layout_map(command.layout, parse_extents("EXTENTS", command.extents, "8x8"));
  if (!command.svg.empty()) emit(picture_of(map), command.svg);
  const Json json{{"layout", map.layout},
                  {"dimensions", map.dimensions},
                  {"extents", map.extents},
                  {"padded", map.padded},
                  {"offsets", map.offsets}};
  emit(for_people(command.result.format) ? map_text(map, command.result.format)
                                         : to_text(json, command.result.format),
       command.result.path);
  return 0;
}

std::array<std::int64_t, 2> pair_of(const char* option, const std::string& text) {
  const std::vector<std::int64_t> extents = parse_extents(option, text, "4x16");
  if (extents.size() != 2) {
    throw UsageError(fmt::format("{}: expected two extents, such as 4x16, got '{}'", option, text));
  }
  return {extents[0], extents[1]};
}

int show_product(LayoutCommand command) {
  ProductAccess& access = command.access;
  access.lhs = command.layout;
  access.rhs = command.rhs;
  access.group = pair_of("--group", command.group);
  access.patch = pair_of("--patch", command.patch);
  const FetchedLines lines = fetched_lines(access);
  const Json json{{"lhs", access.lhs},
                  {"rhs", access.rhs},
                  {"group", command.group},
                  {"patch", command.patch},
                  {"step", access.step},
                  {"line_bytes", access.line_bytes},
                  {"element_bytes", access.element_bytes},
                  {"lhs_lines", lines.lhs.lines},
                  {"lhs_every", lines.lhs.every},
                  {"rhs_lines", lines.rhs.lines},
                  {"rhs_every", lines.rhs.every}};
  const auto every = [](std::int64_t steps) {
    return steps == 1 ? std::string("every step") : fmt::format("every {} steps", steps);
  };
  const bool is_together = lines.lhs.every == lines.rhs.every;
  const std::string text = fmt::format(
      "lhs {}, rhs {}: a work-group of {}, {} results each, {} elements of k in a step, "
      "lines of {} bytes\nnew lines at once: lhs {} {}, rhs {} {}{}\n",
      access.lhs, access.rhs, command.group, command.patch, access.step, access.line_bytes,
      lines.lhs.lines, every(lines.lhs.every), lines.rhs.lines, every(lines.rhs.every),
      is_together ? fmt::format(", both together {}", lines.lhs.lines + lines.rhs.lines) : "");
  emit(for_people(command.result.format) ? text : to_text(json, command.result.format),
       command.result.path);
  return 0;
}

}  // namespace

void add_layout(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("layout", "Show where a layout puts the elements");
  command->footer(kLayoutFooter);
  auto options = std::make_shared<LayoutCommand>();
  command->add_option("LAYOUT", options->layout, "A layout, such as R_2_4_R or NCHW4c")
      ->option_text(" ")
      ->required();
  command->add_option("EXTENTS", options->extents, "Extents of what lies in it, such as 8x8")
      ->option_text(" ");
  command->add_option("--svg", options->svg, "Write a picture of a matrix here")
      ->option_text("FILE")
      ->check(writable_file());
  CLI::Option* rhs =
      command->add_option("--product", options->rhs, "Layout of rhs: count a product's lines")
          ->option_text("LAYOUT");
  const auto of_product = [&](const char* name, auto& value, const char* meaning,
                              const char* text) {
    command->add_option(name, value, meaning)->needs(rhs)->option_text(text);
  };
  of_product("--group", options->group, "Work-items along m and n (4x16)", "MxN");
  of_product("--patch", options->patch, "Results of a work-item (2x2)", "MxN");
  of_product("--step", options->access.step, "Elements of k that are read together (4)", "N");
  of_product("--line", options->access.line_bytes, "Bytes of a cache line (64)", "BYTES");
  of_product("--element", options->access.element_bytes, "Bytes of an element (4)", "BYTES");
  add_options(*command, options->result, every_format());
  command->callback([options, &chosen] {
    const bool is_map = options->rhs.empty();
    if (is_map && options->extents.empty()) throw CLI::RequiredError("EXTENTS or --product");
    if (!is_map && (!options->extents.empty() || !options->svg.empty())) {
      throw CLI::ValidationError("--product", "takes neither EXTENTS nor --svg");
    }
    chosen = [options] {
      return options->rhs.empty() ? show_map(*options) : show_product(*options);
    };
  });
}

}  // namespace morton::cli
