// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace morton::cli {

/// Keys stay in the order in which they were written.
using Json = nlohmann::ordered_json;

/// --format. Tables are for people (aligned, or as Markdown); json is indented, jsonl has one
/// object on each line, csv has one header and one record for each object.
enum class Format : std::uint8_t { table, md, json, jsonl, csv };

[[nodiscard]] inline bool for_people(Format format) {
  return format == Format::table || format == Format::md;
}

/// Columns of text with a heading.
struct Table {
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string name;
    Align align = Align::left;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< as many cells as there are columns
};

/// The table for people: Format::table or Format::md. Every line ends in a newline.
[[nodiscard]] std::string to_text(const Table& table, Format format);

/// A value for programs: Format::json, jsonl or csv. An array gives one line (jsonl) or one record
/// (csv) for each element; nested keys become "outer.inner" in csv. Text that is not UTF-8 has its
/// wrong bytes replaced; NaN and infinity are null.
[[nodiscard]] std::string to_text(const Json& value, Format format);

/// Writes to the file `path`, or to standard output when it is empty. Throws UsageError when the
/// file cannot be written.
void emit(const std::string& text, const std::string& path);

/// Why no file can be written at `path`, in words that name it; empty where one can.
[[nodiscard]] std::string obstacle_of(const std::string& path);

/// Throws UsageError that quotes `option` where nothing can be written to `path`; an empty path is
/// none. `made` is a folder that the command makes itself; empty: none.
void require_writable(const std::string& option, const std::string& path,
                      const std::string& made = "");

/// Throws UsageError where two of these options name the same file; empty paths are none.
void refuse_same_file(const std::vector<std::pair<std::string, std::string>>& files);

/// The whole file. Throws ModelError when it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

/// "1x3x224x224"; open extents by their symbol where there is one, else as "?".
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape,
                                     const std::vector<std::string>& symbols = {});

/// "1.5 MiB"
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// "classes: cat, dog", the first of many.
[[nodiscard]] std::string labels_text(const std::vector<std::string>& labels);

}  // namespace morton::cli
