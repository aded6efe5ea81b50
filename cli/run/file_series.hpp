// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "common/sources.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// An input that takes many files, one after the other: a folder's, or those that a pattern with *,
/// ? or [ names.
struct FileSeries {
  std::string input;                ///< its name
  std::vector<std::string> files;   ///< sorted by name; at least one
  std::vector<std::string> others;  ///< arguments of the inputs that stay the same
};

/// The series among the -i arguments; nothing where each names a file. Throws UsageError for
/// several, for a folder or a pattern without files, and for a list's element.
[[nodiscard]] std::optional<FileSeries> series_in(const std::vector<std::string>& arguments,
                                                  const std::vector<PortInfo>& inputs);

/// A file as an input, or why it cannot be one.
struct SeriesItem {
  std::string file;
  Tensor tensor{};
  std::string problem;  ///< empty: none
};

/// Reads files of a series ahead, on threads, while the device works.
class SeriesReader {
 public:
  /// `input` is settled; each file becomes one with 1 as its first extent where it has several.
  SeriesReader(const FileSeries& series, const PortInfo& input, const PictureOptions& pictures);

  /// Begins to read these files.
  void begin(const std::vector<std::string>& files);
  /// What `begin` began, in order, as soon as it is read.
  [[nodiscard]] std::vector<SeriesItem> take();

 private:
  [[nodiscard]] SeriesItem read(const std::string& file) const;

  PortInfo input_;
  PictureOptions pictures_;
  std::vector<SeriesItem> items_;
  std::vector<std::future<void>> begun_;
};

}  // namespace morton::cli
