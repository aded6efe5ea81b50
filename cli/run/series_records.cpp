// SPDX-License-Identifier: Apache-2.0
#include "run/series_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// Outputs of more elements are told by their least, greatest and mean value.
constexpr std::int64_t kMostValues = 4096;

Json values_of(const Tensor& tensor) {
  Json values = Json::array();
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
  return values;
}

/// One file's outputs, as `morton run` has them; in place of a list of rows the only row.
Json outputs_of_file(const std::vector<NamedTensor>& outputs, const Ranking& ranking) {
  Json list = outputs_json(outputs, ranking);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Json& item = list[i];
    if (item.contains("top")) {
      item["top"] = Json(item["top"].front());
    } else if (outputs[i].tensor.size() <= kMostValues) {
      item["values"] = values_of(outputs[i].tensor);
    }
  }
  return list;
}

Json record_of(const std::string& file, const std::string& output) {
  return {{"file", file},     {"output", output}, {"rank", nullptr},   {"index", nullptr},
          {"label", nullptr}, {"value", nullptr}, {"problem", nullptr}};
}

Json ranks_of_file(const std::string& file, const Json& outputs) {
  Json rows = Json::array();
  for (const Json& output : outputs) {
    if (!output.contains("top")) continue;
    int rank = 0;
    for (const Json& one : output["top"]) {
      Json row = record_of(file, output["name"].get<std::string>());
      row["rank"] = ++rank;
      row["index"] = one["index"];
      row["label"] = one["label"];
      row["value"] = one.contains("value") ? one["value"] : one["probability"];
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// One line in any case: a name with control characters is written as in JSON.
std::string name_for_people(const std::string& file) {
  const bool is_plain =
      std::ranges::none_of(file, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return is_plain ? file : Json(file).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string line_for_people(const std::string& file, const Json& outputs) {
  std::string line = name_for_people(file);
  for (const Json& output : outputs) {
    if (!output.contains("top")) {
      line += fmt::format("  {} min {:.6g} max {:.6g} mean {:.6g}",
                          output["name"].get<std::string>(), output["min"].get<double>(),
                          output["max"].get<double>(), output["mean"].get<double>());
      continue;
    }
    const char* between = "  ";
    for (const Json& one : output["top"]) {
      const double value =
          (one.contains("value") ? one["value"] : one["probability"]).get<double>();
      line += fmt::format("{}{} {:.4f}", between, one["label"].get<std::string>(), value);
      between = ", ";
    }
  }
  return line + "\n";
}

}  // namespace

void SeriesRecords::Close::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

SeriesRecords::SeriesRecords(const std::string& path, Format format, Start start)
    : path_(path), format_(format) {
  if (start == Start::resume) take_earlier(path);
  file_.reset(path.empty() ? stdout
                           : std::fopen(path.c_str(), start == Start::resume ? "ab" : "wb"));
  if (!file_)
    throw UsageError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

void SeriesRecords::take_earlier(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_text(path);
  // A run that was ended may have left a part of its last line.
  const std::size_t whole = text.rfind('\n') + 1;
  std::istringstream lines(text.substr(0, whole));
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("file") || !record["file"].is_string()) {
      throw UsageError(fmt::format(
          "--resume: {}: holds a line that is no record of an earlier run over files", path));
    }
    if (record.contains("outputs")) done_.insert(record["file"].get<std::string>());
  }
  if (whole < text.size()) std::filesystem::resize_file(path, whole);
}

void SeriesRecords::write(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() &&
                       std::fflush(file_.get()) == 0;
  if (written) return;
  throw UsageError(fmt::format("{}: cannot be written: {}",
                               path_.empty() ? "standard output" : path_, std::strerror(errno)));
}

void SeriesRecords::write_rows(const Json& rows) {
  if (rows.empty()) return;
  std::string text = to_text(rows, Format::csv);
  if (has_header_) text.erase(0, text.find('\n') + 1);
  has_header_ = true;
  write(text);
}

void SeriesRecords::add(const std::string& file, const std::vector<NamedTensor>& outputs,
                        const Ranking& ranking) {
  const Json list = outputs_of_file(outputs, ranking);
  if (for_people(format_)) return write(line_for_people(file, list));
  if (format_ == Format::csv) return write_rows(ranks_of_file(file, list));
  write(to_text(Json{{"file", file}, {"outputs", list}}, Format::jsonl));
}

void SeriesRecords::add_problem(const std::string& file, const std::string& problem) {
  if (for_people(format_)) return;  // standard error has it
  if (format_ == Format::csv) {
    Json row = record_of(file, "");
    row["problem"] = problem;
    return write_rows(Json::array({row}));
  }
  write(to_text(Json{{"file", file}, {"problem", problem}}, Format::jsonl));
}

}  // namespace morton::cli
