// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace morton::serve {

/// What the log says of a request.
struct AccessRecord {
  std::string client, method, path;
  int status = 0;
  std::size_t bytes_in = 0, bytes_out = 0;
  double ms = 0.0;
  std::int64_t batch = 0;  ///< items of the batch that it was in; 0: none
  std::string model = {};  ///< where the path does not name it
  double queue_ms = 0.0, compute_ms = 0.0;
};

/// A line of JSON for each request. Threads may share it.
class AccessLog {
 public:
  /// To a file, behind what it holds; "-" is the standard output, an empty name nothing. Throws
  /// UsageError where it cannot be opened.
  explicit AccessLog(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void write(const AccessRecord& record);
  [[nodiscard]] bool is_on() const { return file_ != nullptr; }

 private:
  std::FILE* file_ = nullptr;
  std::mutex mutex_;
};

}  // namespace morton::serve
