// SPDX-License-Identifier: Apache-2.0
#include "common/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/terminal.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

namespace fs = std::filesystem;

/// What two spellings of a path have in common.
std::string plain_path(const std::string& path) {
  std::error_code status;
  const fs::path plain = fs::weakly_canonical(fs::absolute(path, status), status);
  return status ? path : plain.string();
}

/// Several outputs may go to a terminal, a pipe or /dev/null.
bool is_device(const std::string& path) {
  std::error_code status;
  return fs::exists(path, status) && !fs::is_regular_file(path, status);
}

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
  const std::size_t used = characters_of(cell);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Table::Align::right ? space + cell : cell + space;
}

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (const Table::Column& column : table.columns) widths.push_back(characters_of(column.name));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], characters_of(row[i]));
    }
  }
  return widths;
}

std::string dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Appends the leaves of `value` to `out` under "outer.inner" names.
void flatten(const Json& value, const std::string& name, Json& out) {
  if (!value.is_object() && !value.is_array()) {
    out[name] = value;
    return;
  }
  std::size_t index = 0;
  for (const auto& [key, inner] : value.items()) {
    const std::string part = value.is_object() ? key : std::to_string(index++);
    flatten(inner, name.empty() ? part : name + "." + part, out);
  }
}

std::string csv_cell(const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>()
                           : value.is_null() ? ""
                                             : dump(value, -1);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_text(const Json& records) {
  std::vector<Json> flat;
  std::vector<std::string> header;
  for (const Json& record : records) {
    Json leaves = Json::object();
    flatten(record, "", leaves);
    for (const auto& [key, value] : leaves.items()) {
      if (std::ranges::find(header, key) == header.end()) header.push_back(key);
    }
    flat.push_back(std::move(leaves));
  }
  std::string text;
  for (std::size_t i = 0; i < header.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(header[i]);
  text += '\n';
  for (const Json& leaves : flat) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (i > 0) text += ',';
      if (leaves.contains(header[i])) text += csv_cell(leaves[header[i]]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string to_text(const Table& table, Format format) {
  const std::vector<std::size_t> widths = widths_of(table);
  const bool markdown = format == Format::md;
  std::string text;
  const auto add_row = [&](const auto& cell_of) {
    std::string line = markdown ? "| " : "";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += markdown ? " | " : "  ";
      line += padded(cell_of(i), widths[i], table.columns[i].align);
    }
    if (markdown) line += " |";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_row([&](std::size_t i) { return table.columns[i].name; });
  if (markdown) {
    text += "|";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool right = table.columns[i].align == Table::Align::right;
      text += std::string(widths[i] + 1, '-') + (right ? ":|" : "-|");
    }
    text += "\n";
  }
  for (const auto& row : table.rows) add_row([&](std::size_t i) { return row[i]; });
  return text;
}

std::string to_text(const Json& value, Format format) {
  if (format == Format::json) return dump(value, 2) + "\n";
  const Json records = value.is_array() ? value : Json::array({value});
  if (format == Format::csv) return csv_text(records);
  std::string text;
  for (const Json& record : records) text += dump(record, -1) + "\n";
  return text;
}

void emit(const std::string& text, const std::string& path) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UsageError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

std::string obstacle_of(const std::string& path) {
  std::error_code status;
  if (path.empty()) return "expected a file's name";
  if (fs::is_directory(path, status)) return path + ": cannot be written: it is a folder";
  const auto problem = [&](const std::string& why) {
    return fmt::format("{}: cannot be written: {}", path, why);
  };
  if (fs::exists(path, status)) {
    return ::access(path.c_str(), W_OK) == 0 ? "" : problem(std::strerror(errno));
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::exists(folder, status)) return problem("there is no folder " + folder.string());
  if (!fs::is_directory(folder, status)) return problem(folder.string() + " is no folder");
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return problem(folder.string() + ": " + std::strerror(errno));
}

void require_writable(const std::string& option, const std::string& path, const std::string& made) {
  if (path.empty()) return;
  const std::string folder = fs::path(path).parent_path().string();
  if (!made.empty() && !folder.empty() && plain_path(folder) == plain_path(made)) return;
  const std::string obstacle = obstacle_of(path);
  if (!obstacle.empty()) throw UsageError(option + ": " + obstacle);
}

void refuse_same_file(const std::vector<std::pair<std::string, std::string>>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      const auto& [option, path] = files[i];
      const auto& [first, taken] = files[other];
      if (path.empty() || taken.empty() || plain_path(path) != plain_path(taken)) continue;
      if (is_device(path)) continue;
      throw UsageError(fmt::format("{} {}: {} names the same file; take another for one of them",
                                   option, path, first));
    }
  }
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file sets failbit, a folder badbit.
  if (file.is_open()) text << file.rdbuf();
  if (!file.is_open() || text.bad()) {
    throw ModelError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  return text.str();
}

std::string shape_text(const std::vector<std::int64_t>& shape,
                       const std::vector<std::string>& symbols) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += 'x';
    if (shape[i] >= 0) {
      text += std::to_string(shape[i]);
    } else {
      text += i < symbols.size() && !symbols[i].empty() ? symbols[i] : "?";
    }
  }
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string labels_text(const std::vector<std::string>& labels) {
  constexpr std::size_t kMostShown = 20;
  const std::size_t shown = std::min(labels.size(), kMostShown);
  std::string text = "classes: ";
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + labels[i];
  return shown < labels.size() ? text + fmt::format(", ... ({})", labels.size()) : text;
}

}  // namespace morton::cli
