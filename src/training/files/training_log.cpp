// SPDX-License-Identifier: Apache-2.0
#include "training/files/training_log.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace morton::training {
namespace {

namespace fs = std::filesystem;

/// The shortest text that gives the f32 back, or that of `digits` behind the point.
std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";  // to_chars tells its sign too
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

/// A text file of a log: its name, what it begins with, and what each line begins with.
struct TextForm {
  const char* name;
  std::string header;
  std::string_view start;
};

TextForm csv_form() { return {"log.csv", csv_header(), ""}; }
TextForm jsonl_form() { return {"log.jsonl", "", "{\"step\":"}; }

/// Whether `in` stands at its end, or goes on with `text` or with a part of it before its end.
bool goes_on_with(std::istream& in, std::string_view text) {
  std::string found(text.size(), '\0');
  in.read(found.data(), static_cast<std::streamsize>(found.size()));
  found.resize(static_cast<std::size_t>(in.gcount()));
  return text.starts_with(found);
}

/// Where the lines up to `steps_done` end in a file of a log, which is read in pieces. Throws
/// ModelError for what is no log, and for lines that are not in order.
std::uintmax_t end_of_steps(const fs::path& path, const TextForm& form, std::int64_t steps_done) {
  constexpr std::size_t kLongestLine = 1024;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(path.string() + ": cannot be read");
  if (!goes_on_with(in, form.header)) fail_no_log(path.string());
  if (in.eof()) return 0;
  std::uintmax_t end = form.header.size();
  std::array<char, kLongestLine> buffer{};
  bool behind = false;  // a line of a later step has come
  for (std::uintmax_t place = end; in.getline(buffer.data(), buffer.size());) {
    const std::string_view line(buffer.data(), static_cast<std::size_t>(in.gcount()));
    // A line without its end was cut off by a kill.
    if (in.eof()) {
      if (!line.starts_with(form.start.substr(0, line.size()))) fail_no_log(path.string());
      return end;
    }
    place += line.size();
    const bool stays = step_of(line, form.start, path.string()) <= steps_done;
    if (stays && behind) fail_no_log(path.string());
    behind = !stays;
    if (stays) end = place;
  }
  if (!in.eof()) fail_no_log(path.string());  // a line that is too long
  return end;
}

/// The same for what need not be there yet.
std::uintmax_t end_if_there(const fs::path& folder, const TextForm& form, std::int64_t steps_done) {
  std::error_code status;
  const fs::path path = folder / form.name;
  return fs::exists(path, status) ? end_of_steps(path, form, steps_done) : 0;
}

/// A name beside `path` that no file has.
fs::path free_name(const fs::path& path) {
  fs::path name = path.string() + ".damaged";
  std::error_code status;
  for (int i = 2; fs::exists(name, status); ++i) {
    name = path.string() + ".damaged" + std::to_string(i);
  }
  return name;
}

/// Opens a file of a log of which only `end` bytes stay; an empty one gets its header.
void open_at(std::optional<AppendFile>& file, const fs::path& folder, const TextForm& form,
             std::uintmax_t end) {
  const fs::path path = folder / form.name;
  file.emplace(path);
  std::error_code status;
  fs::resize_file(path, end, status);
  if (status) throw UsageError(path.string() + ": cannot be cut: " + status.message());
  if (end == 0) file->append(form.header);
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

void require_logs(const fs::path& folder) {
  (void)end_if_there(folder, csv_form(), 0);
  (void)end_if_there(folder, jsonl_form(), 0);
}

std::vector<std::string> set_damaged_logs_aside(const fs::path& folder, std::int64_t steps_done) {
  std::vector<std::string> said;
  for (const TextForm& form : {csv_form(), jsonl_form()}) {
    try {
      (void)end_if_there(folder, form, steps_done);
    } catch (const ModelError&) {
      const fs::path path = folder / form.name;
      const fs::path aside = free_name(path);
      std::error_code status;
      fs::rename(path, aside, status);
      if (status) throw;
      said.push_back(path.string() + ": is damaged, or no log; it is " + aside.string() +
                     " now, and a log begins after step " + std::to_string(steps_done));
    }
  }
  return said;
}

TrainingLog::TrainingLog(fs::path folder, std::int64_t steps_done, Rows rows)
    : folder_(std::move(folder)), steps_done_(steps_done) {
  if (rows == Rows::written) open();
  if (rows == Rows::held) require_logs(folder_);
}

void TrainingLog::open() {
  // Both are looked at before one of them changes.
  const std::uintmax_t csv_end = end_if_there(folder_, csv_form(), steps_done_);
  const std::uintmax_t jsonl_end = end_if_there(folder_, jsonl_form(), steps_done_);
  open_at(csv_, folder_, csv_form(), csv_end);
  open_at(jsonl_, folder_, jsonl_form(), jsonl_end);
}

EventFile& TrainingLog::events() {
  if (!events_) events_.emplace(folder_, steps_done_ + 1);
  return *events_;
}

void TrainingLog::write_held() {
  if (!csv_) open();
  const std::vector<LogRow> rows = std::exchange(held_, {});
  for (const LogRow& row : rows) add(row);
}

void TrainingLog::add(const LogRow& row) {
  if (!csv_) {
    held_.push_back(row);
    return;
  }
  csv_->append(csv_line(row));
  jsonl_->append(jsonl_line(row));
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
  if (!scalars.empty()) events().add_scalars(row.step, scalars);
}

}  // namespace morton::training
