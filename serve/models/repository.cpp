// SPDX-License-Identifier: Apache-2.0
#include "models/repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <morton/error.hpp>
#include <utility>

namespace morton::serve {
namespace {

namespace fs = std::filesystem;
using State = ModelState::State;

bool is_model_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  return fs::is_regular_file(path) && (extension == ".onnx" || extension == ".json");
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

/// The model's file, or the one model in a version's folder.
fs::path model_file(const fs::path& folder) {
  if (!fs::is_directory(folder)) return folder;
  if (fs::is_regular_file(folder / "model.onnx")) return folder / "model.onnx";
  std::vector<fs::path> files;
  for (const fs::path& path : entries_of(folder)) {
    if (is_model_file(path)) files.push_back(path);
  }
  if (files.size() == 1) return files.front();
  throw UsageError(folder.string() + ": expected one model.onnx");
}

/// What the command line calls a setting of the API.
std::string option_of(const NamedSetting& setting) {
  const std::string name = setting.name == "shapes"  ? "--shape"
                           : setting.name == "batch" ? "--max-batch"
                                                     : setting.name;
  return setting.value.empty() ? name : name + " " + setting.value;
}

/// A model's folder: versions in folders of their numbers. None where there is no such folder.
ModelSource versions_in(const fs::path& folder) {
  ModelSource source{folder.filename().string(), {}};
  for (const fs::path& path : entries_of(folder)) {
    const std::string version = path.filename().string();
    if (fs::is_directory(path) && is_number(version)) {
      source.versions.emplace_back(version, path.string());
    }
  }
  std::ranges::sort(source.versions, {}, [](const auto& one) { return std::stol(one.first); });
  return source;
}

Refusal no_model(const std::string& name) {
  return {Refusal::Why::no_model, "there is no model '" + name + "'"};
}

}  // namespace

std::vector<ModelSource> model_sources(const std::string& word) {
  const std::size_t equals = word.find('=');
  const bool is_named = equals != std::string::npos && !fs::exists(word);
  fs::path path = is_named ? word.substr(equals + 1) : word;
  if (path.filename().empty()) path = path.parent_path();
  const std::string given = is_named ? word.substr(0, equals) : "";
  if (is_model_file(path))
    return {{given.empty() ? path.stem().string() : given, {{"1", path.string()}}}};
  if (!fs::is_directory(path)) {
    throw UsageError(path.string() + ": no .onnx or .json file, and no folder of models");
  }
  ModelSource one = versions_in(path);
  if (!one.versions.empty()) {
    if (!given.empty()) one.name = given;
    return {one};
  }
  if (!given.empty())
    throw UsageError(path.string() + ": expected folders 1, 2, ... with a model.onnx");
  std::vector<ModelSource> found;
  for (const fs::path& entry : entries_of(path)) {
    if (is_model_file(entry)) {
      found.push_back({entry.stem().string(), {{"1", entry.string()}}});
    } else if (fs::is_directory(entry)) {
      ModelSource source = versions_in(entry);
      if (!source.versions.empty()) found.push_back(std::move(source));
    }
  }
  if (found.empty()) throw UsageError(path.string() + ": no models are there");
  return found;
}

ModelRepository::ModelRepository(std::vector<ModelSource> sources, ServingOptions options, Log log)
    : options_(std::move(options)), log_(std::move(log)) {
  for (ModelSource& source : sources) {
    to_load_.push_back(source.name);
    const std::string name = source.name;
    if (!entries_.emplace(name, Entry{std::move(source), nullptr, State::loading, {}}).second) {
      throw UsageError("two models are called '" + name + "'; NAME=PATH gives one another name");
    }
  }
  loader_ = std::thread([this] { work(); });
}

ModelRepository::~ModelRepository() { stop(); }

void ModelRepository::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (loader_.joinable()) loader_.join();
  for (const auto& [name, one] : served()) one->stop(RequestQueue::Rest::dropped);
}

std::variant<std::shared_ptr<ServedModel>, Refusal> ModelRepository::find(
    const std::string& name, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return no_model(name);
  }
  const Entry& entry = found->second;
  if (entry.served == nullptr) {
    if (entry.state == State::loading) {
      return Refusal{Refusal::Why::busy, "model '" + name + "' is being loaded"};
    }
    return Refusal{Refusal::Why::no_model, "model '" + name + "' is not loaded" +
                                               (entry.reason.empty() ? "" : ": " + entry.reason)};
  }
  if (!version.empty() && version != entry.served->version()) {
    return Refusal{Refusal::Why::no_model, "model '" + name + "' has the version " +
                                               entry.served->version() + " loaded, not " + version};
  }
  return entry.served;
}

std::vector<ModelState> ModelRepository::index() const {
  const std::lock_guard lock(mutex_);
  std::vector<ModelState> states;
  for (const auto& [name, entry] : entries_) {
    const std::string& newest = entry.source.versions.back().first;
    states.push_back(
        {name, entry.served ? entry.served->version() : newest, entry.state, entry.reason});
  }
  return states;
}

bool ModelRepository::is_ready() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(entries_,
                             [](const auto& one) { return one.second.served != nullptr; });
}

std::optional<Refusal> ModelRepository::load(const std::string& name) {
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return no_model(name);
  found->second.state = State::loading;
  ++found->second.changes;
  if (std::ranges::find(to_load_, name) == to_load_.end()) to_load_.push_back(name);
  changed_.notify_all();
  changed_.wait(lock, [&] { return stopped_ || found->second.state != State::loading; });
  if (stopped_) return Refusal{Refusal::Why::gone, "the server stops"};
  if (found->second.reason.empty()) return std::nullopt;
  return Refusal{Refusal::Why::wrong, found->second.reason};
}

std::optional<Refusal> ModelRepository::unload(const std::string& name) {
  std::shared_ptr<ServedModel> served;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return no_model(name);
    served = std::exchange(found->second.served, nullptr);
    found->second.state = State::unavailable;
    found->second.reason = "unloaded";
    ++found->second.changes;
    std::erase(to_load_, name);
  }
  if (served) served->stop(RequestQueue::Rest::taken);
  return std::nullopt;
}

std::map<std::string, std::shared_ptr<ServedModel>> ModelRepository::served() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::shared_ptr<ServedModel>> ready;
  for (const auto& [name, entry] : entries_) {
    if (entry.served) ready.emplace(name, entry.served);
  }
  return ready;
}

void ModelRepository::work() {
  for (;;) {
    std::string name;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || !to_load_.empty(); });
      if (stopped_) return;
      name = to_load_.front();
      to_load_.pop_front();
    }
    carry_out(name);
  }
}

void ModelRepository::carry_out(const std::string& name) {
  ModelSource source;
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    source = entries_.at(name).source;
    changes = entries_.at(name).changes;
  }
  const auto& [version, path] = source.versions.back();
  std::shared_ptr<ServedModel> served;
  std::string reason;
  log_(fmt::format("loading '{}', version {}: {}", name, version, path));
  try {
    served = std::make_shared<ServedModel>(name, version, model_file(path).string(), options_);
  } catch (const Error& error) {
    reason = error.message().print(option_of);
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (!served) {
    log_(fmt::format("'{}' cannot be served: {}", name, reason));
  } else if (served->why_alone().empty()) {
    log_(fmt::format("'{}' is ready", name));
  } else {
    log_(fmt::format("'{}' is ready; requests share no batch: {}", name, served->why_alone()));
  }
  std::shared_ptr<ServedModel> before;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_.at(name);
    if (entry.changes == changes) {
      // What cannot be loaded leaves what serves.
      if (served) before = std::exchange(entry.served, served);
      entry.state = entry.served ? State::ready : State::unavailable;
      entry.reason = reason;
    } else {
      before = served;  // it was unloaded meanwhile, or is to be loaded once more
    }
  }
  changed_.notify_all();
  if (before) before->stop(RequestQueue::Rest::taken);
}

}  // namespace morton::serve
