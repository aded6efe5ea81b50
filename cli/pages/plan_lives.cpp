// SPDX-License-Identifier: Apache-2.0
#include "pages/plan_lives.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace morton::cli::pages {
namespace {

/// Follows a plan's steps.
class LifeTracker {
 public:
  explicit LifeTracker(const Json& plan) : plan_(plan) {
    for (const Json& block : plan.at("blocks")) {
      const auto bytes = block.at("bytes").get<std::int64_t>();
      const std::string kind = block.at("kind");
      const bool is_weights = kind == "weights";
      // What only loading needs is free again before the first step.
      const bool is_shown = !is_weights && kind != "loading";
      bases_.push_back(is_shown ? found_.bytes : -1);
      if (is_shown) found_.bytes += bytes;
      if (is_weights) found_.weight_bytes += bytes;
    }
  }

  PlanLives lives() {
    const int steps = static_cast<int>(plan_.at("steps").size());
    for (std::size_t id = 0; id < plan_.at("values").size(); ++id) {
      const std::string kind = plan_.at("values")[id].at("kind");
      if (kind == "input") begin(id, {0, 0}, {});
      if (kind == "state") begin(id, {0, std::max(0, steps - 1)}, {});
    }
    for (int s = 0; s < steps; ++s) follow(plan_.at("steps")[s], s);
    for (Life& life : found_.lives) {
      if (life.kind == "output" && !life.is_overwritten) life.last = std::max(0, steps - 1);
    }
    return std::move(found_);
  }

 private:
  void follow(const Json& step, int s) {
    for (const Json& id : step.at("reads")) {
      const Json& value = plan_.at("values")[id.get<std::size_t>()];
      for_each_overlap(value, [&](Life& life) {
        life.last = std::max(life.last, s);
        for (const int writer : life.writers) add_edge(writer, s, life.name);
      });
    }
    for (const Json& id : step.at("writes")) write(step, id.get<std::size_t>(), s);
  }

  void add_edge(int from, int to, const std::string& name) {
    const auto is_same = [&](const PlanEdge& edge) { return edge.from == from && edge.to == to; };
    if (from == to || std::ranges::any_of(found_.edges, is_same)) return;
    found_.edges.push_back({from, to, name});
  }

  void write(const Json& step, std::size_t id, int s) {
    const Json& value = plan_.at("values")[id];
    bool goes_on = false;
    for_each_overlap(value, [&](Life& life) {
      if (life.value == id) {
        goes_on = true;
        write_again(step, life, s);
      } else if (life.writers != std::vector<int>{s}) {
        life.is_overwritten = true;
      }
    });
    if (!goes_on) begin(id, {s, s}, {s});
  }

  /// A step that writes a value again adds a part, or replaces what it has read.
  static void write_again(const Json& step, Life& life, int s) {
    const Json& reads = step.at("reads");
    if (std::ranges::find(reads, Json(life.value)) != reads.end()) life.writers.clear();
    if (std::ranges::find(life.writers, s) == life.writers.end()) life.writers.push_back(s);
    life.last = std::max(life.last, s);
  }

  struct Span {
    int first, last;
  };
  void begin(std::size_t id, Span steps, std::vector<int> writers) {
    const Json& value = plan_.at("values")[id];
    const std::int64_t base = base_of(value);
    if (base < 0) return;
    found_.lives.push_back({value.at("name"), value.at("kind"),
                            base + value.at("offset_bytes").get<std::int64_t>(),
                            value.at("bytes").get<std::int64_t>(), steps.first, steps.last, id,
                            std::move(writers), false});
  }

  template <typename Told>
  void for_each_overlap(const Json& value, const Told& told) {
    const std::int64_t base = base_of(value);
    if (base < 0) return;
    const std::int64_t begin = base + value.at("offset_bytes").get<std::int64_t>();
    const std::int64_t end = begin + value.at("bytes").get<std::int64_t>();
    for (Life& life : found_.lives) {
      if (life.is_overwritten || life.offset >= end || life.offset + life.bytes <= begin) continue;
      told(life);
    }
  }

  /// Where its block begins among those that are shown; -1 where it is not.
  std::int64_t base_of(const Json& value) const {
    const auto block = value.at("block").get<std::size_t>();
    return block < bases_.size() ? bases_[block] : -1;
  }

  const Json& plan_;
  std::vector<std::int64_t> bases_;
  PlanLives found_;
};

}  // namespace

PlanLives lives_of(const Json& plan) { return LifeTracker(plan).lives(); }

}  // namespace morton::cli::pages
