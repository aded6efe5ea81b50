// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "models/served_model.hpp"

namespace morton::serve {

/// A model that can be served: its files, the newest version last.
struct ModelSource {
  std::string name;
  std::vector<std::pair<std::string, std::string>> versions;  ///< number and file or folder
};

/// What a word of the command line names: NAME=PATH or PATH, where PATH is a model's file; a
/// model's folder, with versions in folders of their numbers; or a folder of such files and
/// folders. Throws UsageError where nothing of that is there.
[[nodiscard]] std::vector<ModelSource> model_sources(const std::string& word);

/// A line of the repository's index.
struct ModelState {
  std::string name, version;
  enum class State : std::uint8_t { loading, ready, unavailable } state = State::loading;
  std::string reason;  ///< why it is unavailable
};

/// The models that are served. Threads may share it.
class ModelRepository {
 public:
  using Log = std::function<void(const std::string&)>;

  /// Begins to load all of the sources, one after another, in a thread of its own.
  ModelRepository(std::vector<ModelSource> sources, ServingOptions options, Log log);
  /// As `stop`.
  ~ModelRepository();
  ModelRepository(const ModelRepository&) = delete;
  ModelRepository& operator=(const ModelRepository&) = delete;

  /// The version, or the newest that is ready where it is empty; or why there is none.
  [[nodiscard]] std::variant<std::shared_ptr<ServedModel>, Refusal> find(
      const std::string& name, const std::string& version) const;
  [[nodiscard]] std::vector<ModelState> index() const;
  /// Whether every source is served, by an older state of it perhaps.
  [[nodiscard]] bool is_ready() const;
  /// Loads a model anew, or unloads it, and waits for that. Returns why it failed.
  [[nodiscard]] std::optional<Refusal> load(const std::string& name);
  [[nodiscard]] std::optional<Refusal> unload(const std::string& name);
  /// Ends loading, when the model at hand is loaded, and the models, which drop what waits.
  void stop();
  /// Those that are ready, by name.
  [[nodiscard]] std::map<std::string, std::shared_ptr<ServedModel>> served() const;

 private:
  struct Entry {
    ModelSource source;
    std::shared_ptr<ServedModel> served;
    ModelState::State state = ModelState::State::loading;
    std::string reason;
    std::uint64_t changes = 0;  ///< wishes to load or unload it, so far
  };

  void work();
  void carry_out(const std::string& name);

  const ServingOptions options_;
  const Log log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Entry> entries_;
  std::deque<std::string> to_load_;
  bool stopped_ = false;
  std::thread loader_;
};

}  // namespace morton::serve
