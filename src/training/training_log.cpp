// SPDX-License-Identifier: Apache-2.0
#include "training/training_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"

namespace morton {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;

/// The shortest text that gives the f32 back, or that of `digits` behind the point.
std::string number_text(double value, int digits) {
  std::array<char, 64> text{};
  char* end = text.data() + text.size();
  const auto written =
      digits < 0 ? std::to_chars(text.data(), end, static_cast<float>(value))
                 : std::to_chars(text.data(), end, value, std::chars_format::fixed, digits);
  return std::string(text.data(), written.ptr);
}

struct Field {
  std::string name;
  std::optional<double> value;
  int digits = -1;  ///< behind the point; -1: as many as an f32 has
};

std::vector<Field> fields_of(const LogRow& row) {
  return {{"step", static_cast<double>(row.step), 0},
          {"epoch", static_cast<double>(row.epoch), 0},
          {"loss", row.loss},
          {"accuracy", row.accuracy},
          {"validation_loss", row.validation_loss},
          {"validation_accuracy", row.validation_accuracy},
          {"learning_rate", row.learning_rate},
          {"images_per_second", row.images_per_second, 1},
          {"seconds", row.seconds, 3}};
}

std::string csv_header() {
  std::string line;
  for (const std::string& name : log_columns()) line += (line.empty() ? "" : ",") + name;
  return line + "\n";
}

[[noreturn]] void fail_no_log(const std::string& where) {
  throw ModelError(where + ": expected a training's log, got a line that is none of it; move the " +
                   "file away, or write to another folder");
}

/// The step of a line that begins with `start` and then the number.
std::int64_t step_of(std::string_view line, std::string_view start, const std::string& where) {
  std::int64_t step = 0;
  const char* begin = line.data() + start.size();
  if (line.starts_with(start)) {
    const auto [stop, status] = std::from_chars(begin, line.data() + line.size(), step);
    if (status == std::errc() && stop != begin) return step;
  }
  fail_no_log(where);
}

/// Leaves of `path` only `header` and the whole lines up to `steps_done`. Each line begins with
/// `start`. What is no log is never written over.
fs::path keep_lines(const fs::path& path, const std::string& header, std::string_view start,
                    std::int64_t steps_done) {
  std::string kept = header;
  std::error_code status;
  if (fs::exists(path, status)) {
    const std::string text = read_file(path, kMostBytes);
    std::string_view rest = text;
    if (!rest.empty() && !rest.starts_with(header)) fail_no_log(path.string());
    if (!rest.empty()) rest.remove_prefix(header.size());
    // A line without its end was cut off by a kill.
    for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
      const std::string_view line = rest.substr(0, end + 1);
      if (step_of(line, start, path.string()) <= steps_done) kept += line;
      rest.remove_prefix(end + 1);
    }
    const std::size_t length = std::min(rest.size(), start.size());
    if (rest.substr(0, length) != start.substr(0, length)) fail_no_log(path.string());
  }
  write_file_atomically(path, kept);
  return path;
}

}  // namespace

std::vector<std::string> log_columns() {
  std::vector<std::string> names;
  for (const Field& field : fields_of({})) names.push_back(field.name);
  return names;
}

std::string csv_line(const LogRow& row) {
  std::string line;
  for (const Field& field : fields_of(row)) {
    if (!line.empty()) line += ',';
    if (field.value) line += number_text(*field.value, field.digits);
  }
  return line + "\n";
}

std::string jsonl_line(const LogRow& row) {
  std::string line;
  for (const Field& field : fields_of(row)) {
    const bool has_number = field.value && std::isfinite(*field.value);
    line += (line.empty() ? "{\"" : ",\"") + field.name +
            "\":" + (has_number ? number_text(*field.value, field.digits) : "null");
  }
  return line + "}\n";
}

TrainingLog::TrainingLog(const fs::path& folder, std::int64_t steps_done)
    : csv_(keep_lines(folder / "log.csv", csv_header(), "", steps_done)),
      jsonl_(keep_lines(folder / "log.jsonl", "", "{\"step\":", steps_done)),
      events_(folder, steps_done + 1) {}

void TrainingLog::add(const LogRow& row) {
  csv_.append(csv_line(row));
  jsonl_.append(jsonl_line(row));
  std::vector<Scalar> scalars;
  const auto tell = [&](const char* tag, const std::optional<double>& value) {
    if (value) scalars.push_back({tag, *value});
  };
  tell("loss/training", row.loss);
  tell("loss/validation", row.validation_loss);
  tell("accuracy/training", row.accuracy);
  tell("accuracy/validation", row.validation_accuracy);
  tell("learning_rate", row.learning_rate);
  tell("images_per_second", row.images_per_second);
  if (!scalars.empty()) events_.add_scalars(row.step, scalars);
}

}  // namespace morton
