// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "device/probe_names.hpp"
#include "device/probe_section.hpp"

namespace morton::cli {
namespace {

using ReadMemory = MeasuredImageRead::Memory;
using ReadOrder = MeasuredImageRead::Order;

const char* memory_name(ReadMemory memory) {
  return memory == ReadMemory::image ? "image" : "buffer";
}

const char* read_order_name(ReadOrder order) {
  return order == ReadOrder::rows ? "rows" : order == ReadOrder::columns ? "columns" : "tiles";
}

/// "image f32, 256 x 256"
std::string square_name(const MeasuredImageRead& read) {
  return fmt::format("{} {}, {} x {}", memory_name(read.memory), read.type, read.width, read.width);
}

/// A row for each square, a column for each order.
Table images_table(const ImageReads& reads) {
  using enum Table::Align;
  Table table;
  table.columns = {{"reads, GB/s"}, {"rows", right}, {"columns", right}, {"tiles of 8 x 8", right}};
  for (const MeasuredImageRead& read : reads.reads) {
    if (read.order == ReadOrder::rows) table.rows.push_back({square_name(read), "", "", ""});
    table.rows.back()[static_cast<std::size_t>(read.order) + 1] =
        measured_text(read.gigabytes_per_second);
  }
  return table;
}

std::string images_text(const ImageReads& reads, Format format) {
  std::string text =
      "reads of squares of texels, each once a launch: read_imagef beside a buffer of the same "
      "rows\n\n" +
      to_text(images_table(reads), format);
  for (const std::string& left_out : reads.left_out) text += "Left out: " + left_out + ".\n";
  return text;
}

Json images_json(const ImageReads& reads) {
  Json list = Json::array();
  for (const MeasuredImageRead& read : reads.reads) {
    list.push_back({{"type", read.type},
                    {"memory", memory_name(read.memory)},
                    {"order", read_order_name(read.order)},
                    {"width", read.width}});
    put(list.back(), "gigabytes_per_second", read.gigabytes_per_second);
  }
  return {{"reads", list}, {"left_out", reads.left_out}};
}

Json images_records(const ImageReads& reads) {
  Json list = Json::array();
  for (const MeasuredImageRead& read : reads.reads) {
    add(list,
        {"read",
         fmt::format("{} {} {}", memory_name(read.memory), read.type, read_order_name(read.order)),
         read.width, "GB/s", read.gigabytes_per_second});
  }
  return list;
}

std::vector<pages::Figure> images_figures(const ImageReads& reads) {
  std::vector<std::pair<std::string, pages::BarChart>> charts;
  for (const MeasuredImageRead& read : reads.reads) {
    const std::string title = fmt::format("{}, {} x {} texels", read.type, read.width, read.width);
    if (charts.empty() || charts.back().first != title)
      charts.push_back({title, rates_chart("GB/s")});
    add_rate(fmt::format("{} by {}", memory_name(read.memory), read_order_name(read.order)),
             read.gigabytes_per_second.median, charts.back().second);
  }
  std::vector<pages::Figure> figures;
  for (const auto& [title, chart] : charts) {
    figures.push_back({"Reads of images and buffers: " + title, draw(chart),
                       "Longer bars are faster reads.",
                       fmt::format("{} bars.", chart.bars.size())});
  }
  return figures;
}

}  // namespace

ProbeSection section_of(const ImageReads& reads, Format format) {
  return {images_text(reads, format), images_json(reads), images_records(reads),
          images_figures(reads)};
}

}  // namespace morton::cli
