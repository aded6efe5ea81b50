// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/output.hpp"
#include "morton/tensor.hpp"
#include "run/run_report.hpp"

namespace morton::cli {

/// What a run over many files writes: a record for each file, as soon as it is known.
class SeriesRecords {
 public:
  enum class Start : std::uint8_t { anew, resume };

  /// To a file, or to standard output where `path` is empty. Throws UsageError where it cannot be
  /// written, and for a file that is no earlier run's where it is resumed.
  SeriesRecords(const std::string& path, Format format, Start start);

  /// Files that an earlier run has answers for.
  [[nodiscard]] const std::set<std::string>& done() const { return done_; }

  /// Throws UsageError where a record cannot be written.
  void add(const std::string& file, const std::vector<NamedTensor>& outputs,
           const Ranking& ranking);
  void add_problem(const std::string& file, const std::string& problem);

 private:
  void take_earlier(const std::string& path);
  void write(const std::string& text);
  void write_rows(const Json& rows);

  struct Close {
    void operator()(std::FILE* file) const;
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  Format format_;
  bool has_header_ = false;
  std::set<std::string> done_;
};

}  // namespace morton::cli
