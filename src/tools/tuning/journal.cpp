// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/trusted.hpp"

namespace morton::tools {
namespace {

constexpr std::int64_t kLimitBytes = std::int64_t{256} << 20;
constexpr mode_t kOwnerOnly = 0600;

}  // namespace

Journal::Journal(std::filesystem::path path, const Json& job) : path_(std::move(path)) {
  make_private_folder(path_.parent_path());
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (descriptor_ < 0) fail("cannot be opened");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw UsageError(path_.string() +
                     ": another process is at this very job: wait until it is done, or end it");
  }
  const std::size_t kept = recover(job);
  if (::ftruncate(descriptor_, static_cast<off_t>(kept)) != 0) fail("cannot be shortened");
  if (::lseek(descriptor_, 0, SEEK_END) < 0) fail("cannot be appended to");
  if (kept == 0) append(job);
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t Journal::recover(const Json& job) {
  const std::string text = read_file(path_, kLimitBytes);
  std::size_t start = 0;
  bool first = true;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       start = end + 1, end = text.find('\n', start)) {
    Json line = Json::parse(text.substr(start, end - start), nullptr, false);
    if (line.is_discarded()) break;
    if (first && line != job) return 0;
    if (!first) earlier_.push_back(std::move(line));
    first = false;
  }
  return start;
}

void Journal::append(const Json& line) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    done += static_cast<std::size_t>(written);
  }
  if (::fdatasync(descriptor_) != 0) fail("cannot be flushed");
}

void Journal::finish() {
  std::error_code status;
  std::filesystem::remove(path_, status);
}

void Journal::fail(const std::string& what) const {
  throw ModelError(path_.string() + ": the journal " + what + ": " + std::strerror(errno));
}

Json message_json(const Message& text) {
  Json pieces = Json::array();
  for (const MessagePiece& piece : text.pieces) {
    if (piece.setting.name.empty()) {
      pieces.push_back(piece.words);
    } else {
      pieces.push_back(
          Json::object({{"setting", piece.setting.name}, {"value", piece.setting.value}}));
    }
  }
  return pieces;
}

Message message_from(const JsonReader& reader) {
  if (reader.json().is_string()) return reader.text();
  Message text;
  for (const JsonReader& piece : reader.elements()) {
    if (piece.json().is_string()) {
      text += piece.text();
    } else {
      text += setting(piece.at("setting").text(), piece.at("value").text());
    }
  }
  return text;
}

}  // namespace morton::tools
