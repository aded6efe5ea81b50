// SPDX-License-Identifier: Apache-2.0
#include "run/file_series.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

namespace fs = std::filesystem;

/// Files of a folder that inputs are read from, sorted. Folders in it, and names that begin with a
/// dot, are left out.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::int64_t others = 0;
  std::error_code unreadable;
  const fs::directory_iterator entries(folder, unreadable);
  if (unreadable) {
    throw ModelError(fmt::format("{}: cannot be read: {}", folder, unreadable.message()));
  }
  std::error_code status;  // of a link that leads nowhere: reading it says so
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    const bool is_other = entry.exists(status) && !entry.is_regular_file(status);
    if (name.starts_with('.') || is_other) continue;
    const bool is_input = is_image(name) || entry.path().extension() == ".npy";
    if (is_input) files.push_back(entry.path().string());
    others += is_input ? 0 : 1;
  }
  std::ranges::sort(files);
  if (others > 0) log::warn("{}: left out, being no .png, .jpg or .npy: {}", folder, others);
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  const std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status != 0 && status != GLOB_NOMATCH) {
    throw ModelError(fmt::format("{}: a folder of it cannot be read", pattern));
  }
  return files;
}

}  // namespace

std::optional<FileSeries> series_in(const std::vector<std::string>& arguments,
                                    const std::vector<PortInfo>& inputs) {
  FileSeries series;
  std::string given;
  for (const std::string& text : arguments) {
    const InputArgument argument = split_argument(text, inputs);
    if (!names_files(argument.file)) {
      series.others.push_back(text);
      continue;
    }
    if (!given.empty()) {
      throw UsageError(
          fmt::format("-i {} and -i {}: one input takes many files, others stay the "
                      "same; give one folder or pattern",
                      given, text));
    }
    given = text;
    series.input = argument.input;
    if (series.input.empty() && inputs.size() == 1) series.input = inputs.front().name;
    const auto port = std::ranges::find(inputs, series.input, &PortInfo::name);
    if (port == inputs.end() || !port->form.is_tensor()) {
      throw UsageError(
          fmt::format("-i {}: say which input takes the files, as NAME:{}", text, argument.file));
    }
    std::error_code status;
    series.files = fs::is_directory(argument.file, status) ? files_in(argument.file)
                                                           : files_like(argument.file);
    if (series.files.empty()) throw ModelError(fmt::format("{}: no files there", argument.file));
  }
  return given.empty() ? std::nullopt : std::optional(std::move(series));
}

SeriesReader::SeriesReader(const FileSeries& series, const PortInfo& input,
                           const PictureOptions& pictures)
    : input_(input), pictures_(pictures) {
  input_.name = series.input;
}

SeriesItem SeriesReader::read(const std::string& file) const {
  SeriesItem item{file, {}, {}};
  try {
    PictureOptions pictures = is_image(file) ? pictures_ : PictureOptions{};
    const Sources sources = read_sources({input_.name + ":" + file}, {input_}, pictures);
    item.tensor = assemble(sources, {input_}).front().tensor;
  } catch (const Error& error) {
    item.problem = message_of(error);
  }
  return item;
}

void SeriesReader::begin(const std::vector<std::string>& files) {
  items_.resize(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) items_[i].file = files[i];
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, files.size());
  for (std::size_t first = 0; first < threads; ++first) {
    begun_.push_back(std::async(std::launch::async, [this, first, threads] {
      for (std::size_t i = first; i < items_.size(); i += threads) items_[i] = read(items_[i].file);
    }));
  }
}

std::vector<SeriesItem> SeriesReader::take() {
  for (std::future<void>& one : begun_) one.get();
  begun_.clear();
  return std::move(items_);
}

}  // namespace morton::cli
