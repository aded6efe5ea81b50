// SPDX-License-Identifier: Apache-2.0
#include "training/files/checkpoint.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "base/text/number_text.hpp"
#include "formats/arrays/safetensors.hpp"
#include "formats/input_file.hpp"

namespace morton::training {
namespace {

namespace fs = std::filesystem;

/// Names of facts that every checkpoint has.
constexpr const char* kDigest = "digest";
constexpr const char* kFormat = "format";
constexpr const char* kFormatText = "morton checkpoint 1";
/// Of one on its way: its file's name, for messages.
constexpr const char* kWhere = "morton.where";

/// A digest of all that is in a checkpoint but the digest itself: damage anywhere changes it.
std::string content_digest(const std::vector<NamedTensor>& tensors,
                           const std::map<std::string, std::string>& facts) {
  std::string digests = digest_of(safetensors_header(tensors, facts));
  for (const NamedTensor& named : tensors) {
    digests +=
        digest_of({reinterpret_cast<const char*>(named.tensor.data()), named.tensor.bytes()});
  }
  return digest_of(digests);
}

template <typename Number>
Number number_of(const Checkpoint& checkpoint, const std::string& name, const char* what) {
  const std::string& text = checkpoint.text(name);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  if (status == std::errc() && stop == end) return number;
  throw ModelError(checkpoint.where + ": " + in_quotes(name) + ": expected " + what + ", got " +
                   in_quotes(text));
}

[[noreturn]] void fail_missing(const Checkpoint& checkpoint, const std::string& name) {
  throw ModelError(checkpoint.where + ": has no " + in_quotes(name) +
                   "; was it written by another version of Morton, or for another network?");
}

void rename_to(const fs::path& from, const fs::path& to) {
  std::error_code status;
  fs::rename(from, to, status);
  if (status) {
    throw UsageError(to.string() + ": cannot rename " + from.string() +
                     " to it: " + status.message());
  }
}

/// Whether there is a file that is a good checkpoint.
bool is_good(const fs::path& path) {
  try {
    (void)read_checkpoint(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void Checkpoint::put(const std::string& name, std::int64_t number) {
  facts[name] = std::to_string(number);
}

void Checkpoint::put(const std::string& name, std::uint64_t number) {
  facts[name] = std::to_string(number);
}

void Checkpoint::put(const std::string& name, double number) { facts[name] = exact_text(number); }

void Checkpoint::put(const std::string& name, const std::vector<std::string>& names) {
  try {
    facts[name] = Json(names).dump();
  } catch (const Json::exception&) {
    throw UsageError("checkpoint: " + in_quotes(name) + ": names must be UTF-8");
  }
}

const Tensor& Checkpoint::tensor(const std::string& name) const {
  for (const NamedTensor& named : tensors) {
    if (named.name == name) return named.tensor;
  }
  fail_missing(*this, name);
}

const std::string& Checkpoint::text(const std::string& name) const {
  const auto fact = facts.find(name);
  if (fact == facts.end()) fail_missing(*this, name);
  return fact->second;
}

std::int64_t Checkpoint::integer(const std::string& name) const {
  return number_of<std::int64_t>(*this, name, "a whole number");
}

std::uint64_t Checkpoint::natural(const std::string& name) const {
  return number_of<std::uint64_t>(*this, name, "a whole number of 0 or more");
}

double Checkpoint::real(const std::string& name) const {
  return number_of<double>(*this, name, "a number");
}

std::vector<std::string> Checkpoint::names(const std::string& name) const {
  const std::string place = where + ": " + in_quotes(name);
  const Json json = parse_json(text(name), place);
  return JsonReader(json, place).texts();
}

void write_checkpoint(const fs::path& path, const Checkpoint& checkpoint) {
  std::map<std::string, std::string> texts = checkpoint.facts;
  texts[kDigest] = content_digest(checkpoint.tensors, checkpoint.facts);
  texts[kFormat] = kFormatText;
  write_safetensors(path, checkpoint.tensors, texts);
}

Checkpoint read_checkpoint(const fs::path& path) {
  SafeTensors content = read_safetensors(path);
  Checkpoint checkpoint{path.string(), std::move(content.tensors), std::move(content.texts)};
  const auto format = checkpoint.facts.extract(kFormat);
  const auto digest = checkpoint.facts.extract(kDigest);
  if (format.empty() || digest.empty() || format.mapped() != kFormatText) {
    throw ModelError(checkpoint.where + ": no checkpoint of this version of Morton: expected '" +
                     kFormatText + "', got " +
                     in_quotes(format.empty() ? std::string() : format.mapped()));
  }
  if (content_digest(checkpoint.tensors, checkpoint.facts) != digest.mapped()) {
    throw ModelError(checkpoint.where + ": is damaged: its digest is not that of its content");
  }
  return checkpoint;
}

std::string bytes_of(const Checkpoint& checkpoint) {
  std::map<std::string, std::string> texts = checkpoint.facts;
  texts[kWhere] = checkpoint.where;
  std::string bytes = safetensors_header(checkpoint.tensors, texts);
  for (const NamedTensor& named : checkpoint.tensors) {
    bytes.append(reinterpret_cast<const char*>(named.tensor.data()), named.tensor.bytes());
  }
  return bytes;
}

Checkpoint checkpoint_of(std::string_view bytes) {
  SafeTensors content = parse_safetensors(bytes, "a checkpoint of another process");
  Checkpoint checkpoint{"", std::move(content.tensors), std::move(content.texts)};
  checkpoint.where = checkpoint.text(kWhere);
  checkpoint.facts.erase(kWhere);
  return checkpoint;
}

void CheckpointStore::remove_leftovers() const {
  std::error_code status;
  fs::remove(fresh(), status);
  remove_unfinished(fresh());
}

void CheckpointStore::write(const Checkpoint& checkpoint) {
  if (!has_written_) {
    remove_leftovers();
    newest_is_good_ = is_good(newest());
    has_written_ = true;
  }
  write_checkpoint(fresh(), checkpoint);
  if (anew_) {
    remove_previous();
  } else if (newest_is_good_) {
    rename_to(newest(), previous());
  }
  anew_ = false;
  pause_for_slow_writes();
  rename_to(fresh(), newest());
  flush_folder(folder_);
  newest_is_good_ = true;
}

void CheckpointStore::remove_previous() const {
  std::error_code status;
  fs::remove(previous(), status);
  if (status) throw UsageError(previous().string() + ": cannot remove: " + status.message());
}

std::optional<FoundCheckpoint> CheckpointStore::read() const {
  std::string damage;
  for (const fs::path& path : {newest(), previous()}) {
    std::error_code status;
    if (!fs::exists(path, status)) continue;
    try {
      return FoundCheckpoint{read_checkpoint(path), damage};
    } catch (const Error& error) {
      damage += (damage.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (damage.empty()) return std::nullopt;
  throw ModelError(folder_.string() + ": no good checkpoint is left:\n" + damage);
}

}  // namespace morton::training
