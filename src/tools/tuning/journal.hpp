// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "morton/message.hpp"

namespace morton::tools {

/// What a long job has found so far, one JSON object on a line, so that it goes on where a kill
/// left it. A line counts once it is whole: it is flushed to the disk before `append` returns, and
/// a last line that was cut off is dropped.
class Journal {
 public:
  /// Opens the journal of the job that `job` describes, in `path`. One of another job is begun
  /// anew. Throws ModelError where the file cannot be read or written, UsageError while another
  /// process has it open.
  Journal(std::filesystem::path path, const Json& job);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// What earlier processes appended for this job.
  [[nodiscard]] const std::vector<Json>& earlier() const { return earlier_; }
  void append(const Json& line);
  /// The job is done: removes the file.
  void finish();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  /// Reads the whole lines of this job into `earlier_`; returns how many bytes they take.
  [[nodiscard]] std::size_t recover(const Json& job);
  [[noreturn]] void fail(const std::string& what) const;

  std::filesystem::path path_;
  std::vector<Json> earlier_;
  int descriptor_ = -1;
};

/// A message as a line holds it: its pieces, of which a setting is an object.
[[nodiscard]] Json message_json(const Message& text);
/// The message again; also where older programs wrote its text. Throws ModelError for what is none.
[[nodiscard]] Message message_from(const JsonReader& reader);

}  // namespace morton::tools
