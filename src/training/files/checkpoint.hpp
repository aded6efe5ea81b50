// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::training {

/// Names of facts: the names of the model's own tensors, a JSON list; what begins the name of a
/// setting, which must be the same where a training goes on; two of these.
constexpr const char* kParametersFact = "parameters";
constexpr const char* kSettingFact = "setting.";
constexpr const char* kFixedPart = "digest of the network and what is frozen of it";
constexpr const char* kTrainedNames = "digest of the trained parameters' names";

/// All that a training needs to go on: tensors (parameters, the optimizer's state) and facts (where
/// the drawing of batches stands, the schedule's state, the seed, the plan's digest), each by name.
struct Checkpoint {
  std::string where;  ///< the file that it was read from, for messages
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> facts;  ///< numbers as text that gives them back exactly

  void put(const std::string& name, const std::string& text) { facts[name] = text; }
  void put(const std::string& name, std::int64_t number);
  void put(const std::string& name, std::uint64_t number);
  void put(const std::string& name, double number);
  /// Any names, of UTF-8; throws UsageError for others.
  void put(const std::string& name, const std::vector<std::string>& names);

  /// All throw ModelError, naming the file, where `name` is not there or no such number.
  [[nodiscard]] const Tensor& tensor(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] std::uint64_t natural(const std::string& name) const;
  [[nodiscard]] double real(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names(const std::string& name) const;
};

/// A checkpoint and what had to be passed over to find it.
struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::string damage;  ///< why the newest file was not taken; empty when it was
};

/// Two generations of checkpoints in a folder, as .safetensors files with a digest.
///
/// A new one is written beside them, flushed, and then takes the newest one's name, whose file
/// becomes the previous one: a kill at any moment leaves a good one under one of the two names. A
/// damaged newest file never takes the place of the previous one. One process at a time may write.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::filesystem::path newest() const { return folder_ / "checkpoint.safetensors"; }
  [[nodiscard]] std::filesystem::path previous() const {
    return folder_ / "checkpoint.previous.safetensors";
  }

  /// Throws UsageError when it cannot be written; what was there is then kept.
  void write(const Checkpoint& checkpoint);

  /// The newest good one, or nothing in a folder without any. Throws ModelError where there are
  /// files and none is good.
  [[nodiscard]] std::optional<FoundCheckpoint> read() const;

  /// What is there belongs to a training that is over: the first `write` takes its place, and until
  /// then it stays.
  void begin_anew() { anew_ = true; }

 private:
  /// What becomes the newest one once it is whole.
  [[nodiscard]] std::filesystem::path fresh() const { return newest().string() + ".new"; }
  void remove_leftovers() const;
  void remove_previous() const;

  std::filesystem::path folder_;
  /// The file `newest` is there and not damaged; known from the first `write` on.
  bool newest_is_good_ = false;
  bool has_written_ = false;
  bool anew_ = false;
};

/// Writes a checkpoint to one file, atomically; throws UsageError.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// The checkpoint in a file. Throws ModelError for one that is damaged, or no checkpoint.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path);

/// A checkpoint on its way to another process, and back again.
[[nodiscard]] std::string bytes_of(const Checkpoint& checkpoint);
[[nodiscard]] Checkpoint checkpoint_of(std::string_view bytes);

}  // namespace morton::training
