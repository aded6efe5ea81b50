// SPDX-License-Identifier: Apache-2.0
#include "common/access_log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <morton/error.hpp>

#include "protocol/infer_message.hpp"

namespace morton::serve {

AccessLog::AccessLog(const std::string& path) {
  if (path.empty()) return;
  file_ = path == "-" ? stdout : std::fopen(path.c_str(), "ae");
  if (file_ == nullptr) throw UsageError(path + ": cannot be written: " + std::strerror(errno));
}

AccessLog::~AccessLog() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void AccessLog::write(const AccessRecord& record) {
  if (file_ == nullptr) return;
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  std::string line = fmt::format(
      R"({{"time":"{:%Y-%m-%dT%H:%M:%S}Z","client":{},"method":{},"path":{},"status":{},"bytes_in":{},"bytes_out":{},"ms":{:.3f})",
      now, json_text(record.client), json_text(record.method), json_text(record.path),
      record.status, record.bytes_in, record.bytes_out, record.ms);
  if (!record.model.empty()) line += ",\"model\":" + json_text(record.model);
  if (record.batch > 0) {
    line += fmt::format(R"(,"batch":{},"queue_ms":{:.3f},"compute_ms":{:.3f})", record.batch,
                        record.queue_ms, record.compute_ms);
  }
  line += "}\n";
  const std::lock_guard lock(mutex_);
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);
}

}  // namespace morton::serve
