// SPDX-License-Identifier: Apache-2.0
//
// The parts of the tuner that need no device: the space, the search, the journal, the store.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/measured/tuned_store.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"
#include "tools/tuning/journal.hpp"
#include "tools/tuning/search.hpp"

namespace morton::test {
namespace {

using morton::test::TemporaryFolder;
using Fate = TrialRecord::Fate;

DeviceInfo small_device() {
  DeviceInfo device;
  device.name = "small";
  device.kind = DeviceInfo::Kind::cpu;
  device.compute.units = 2;
  device.compute.max_work_group_size = 64;
  device.compute.max_work_item_sizes = {64, 64, 64};
  device.memory.local_bytes = 16384;
  return device;
}

Problem product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.family = families::gemm;
  problem.extents = {{"M", m}, {"N", n}, {"K", k}};
  return problem;
}

const Entry& entry_named(const std::string& name) {
  static const Catalogue kCatalogue = Catalogue::standard();
  return *kCatalogue.find_entry(name);
}

TEST(TuneSpace, HoldsWhatTheEntryAndTheDeviceAllow) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  const SearchSpace all = search_space(tile, product(17, 3, 63), small_device(), 1);
  std::size_t combinations = 1;
  for (const auto& [name, tunable] : tile.tunables) combinations *= tunable.values.size();
  EXPECT_EQ(all.candidates.size() + all.left_out, combinations);
  EXPECT_EQ(all.candidates.front(), standard_tunables(tile));

  const Entry& local = entry_named("gemm.local_tile");
  const SearchSpace some = search_space(local, product(17, 3, 63), small_device(), 1);
  EXPECT_GT(some.left_out, 0U);
  for (const Environment& values : some.candidates) {
    EXPECT_EQ(values.at("TILE_M") % values.at("PATCH_M"), 0);
    EXPECT_LE(
        values.at("TILE_N") / values.at("PATCH_N") * (values.at("TILE_M") / values.at("PATCH_M")),
        64);
  }
  EXPECT_EQ(search_space(local, product(17, 3, 63), small_device(), 1).candidates, some.candidates);
}

TEST(TuneSpace, NeighboursAreOneStepAway) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  const SearchSpace space = search_space(tile, product(17, 3, 63), small_device(), 1);
  for (const std::size_t i : neighbours(tile, space, standard_tunables(tile))) {
    int differing = 0;
    for (const auto& [name, value] : standard_tunables(tile)) {
      differing += space.candidates[i].at(name) != value ? 1 : 0;
    }
    EXPECT_EQ(differing, 1);
  }
}

/// A kernel whose time is a sum over its tunables' distances from a best point.
class Landscape {
 public:
  explicit Landscape(Environment best) : best_(std::move(best)) {}

  TrialOutcome measure(const TrialRequest& request) {
    ++calls;
    TrialOutcome outcome;
    if (request.tunables == wrong) {
      outcome.kind = TrialOutcome::Kind::refused;
      outcome.why = "wrong result";
      return outcome;
    }
    for (int i = 0; i < request.samples; ++i) {
      outcome.ms.push_back(ms_of(request.tunables));
      if (request.against) outcome.against_ms.push_back(ms_of(*request.against));
      if (request.peak == TrialRequest::Peak::sampled) outcome.peak_gflops.push_back(100.0);
    }
    return outcome;
  }

  Environment wrong{{"none", 0}};
  int calls = 0;

 private:
  [[nodiscard]] double ms_of(const Environment& values) const {
    double ms = 1.0;
    for (const auto& [name, value] : values) {
      ms += std::abs(static_cast<double>(value - best_.find(name)->second));
    }
    return ms;
  }

  Environment best_;
};

Search search_for(const Entry& entry, const SearchRules& rules) {
  return {entry, TunedProblem{families::gemm, product(17, 3, 63).extents, {}, {}, {}},
          search_space(entry, product(17, 3, 63), small_device(), 1), rules};
}

constexpr SearchRules kAll{.first = 1000, .most = 1000, .samples = 3, .final_samples = 3};

TEST(TuneSearch, FindsTheBestAndMeasuresItBesideTheStandardValues) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  const auto& space = search_space(tile, product(17, 3, 63), small_device(), 1).candidates;
  Landscape landscape(space.back());
  Search search = search_for(tile, kAll);
  const auto measure = [&](const TrialRequest& request) { return landscape.measure(request); };
  std::vector<TrialRecord> told;
  search.run(
      measure, [&](const TrialRecord& trial) { told.push_back(trial); },
      Search::Clock::now() + std::chrono::hours(1));
  EXPECT_EQ(told.size(), space.size());
  ASSERT_TRUE(search.best());
  EXPECT_EQ(*search.best(), space.back());
  const auto record = search.confirm(measure, {2e6, [](const Environment&) { return 4e6; }});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->tunables, space.back());
  EXPECT_DOUBLE_EQ(record->ms, 1.0);
  EXPECT_GT(record->standard_ms, 1.0);
  EXPECT_DOUBLE_EQ(record->gflops, 2.0);
  EXPECT_DOUBLE_EQ(record->efficiency, 0.04);
  EXPECT_EQ(record->tried, static_cast<std::int64_t>(space.size()));
}

TEST(TuneSearch, ARefusedCandidateIsNeverTheBest) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  Landscape landscape(standard_tunables(tile));
  landscape.wrong = standard_tunables(tile);
  Search search = search_for(tile, kAll);
  const auto measure = [&](const TrialRequest& request) { return landscape.measure(request); };
  int refused = 0;
  search.run(
      measure, [&](const TrialRecord& trial) { refused += trial.fate == Fate::refused; },
      Search::Clock::now() + std::chrono::hours(1));
  EXPECT_EQ(refused, 1);
  ASSERT_TRUE(search.best());
  EXPECT_NE(*search.best(), standard_tunables(tile));
  const auto record = search.confirm(measure, {1.0, [](const Environment&) { return 1.0; }});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->standard_ms, 0.0);
}

TEST(TuneSearch, ARateAboveThePeakIsNoResult) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  Landscape landscape(standard_tunables(tile));
  Search search = search_for(tile, kAll);
  const auto measure = [&](const TrialRequest& request) { return landscape.measure(request); };
  search.run(
      measure, [](const TrialRecord&) {}, Search::Clock::now());
  // 1 ms at a peak of 100 GFLOP/s is 1e8 operations.
  const auto occupied = [](const Environment&) { return 1e8; };
  EXPECT_TRUE(search.confirm(measure, {1e8, occupied}));
  EXPECT_EQ(search.flaw(), "");
  EXPECT_FALSE(search.confirm(measure, {1.1e8, occupied}));
  EXPECT_NE(search.flaw().find("faster than the device's peak"), std::string::npos);
}

TEST(TuneSearch, WithoutTimeItStillMeasuresOneAndRecallsTheRest) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  Landscape landscape(standard_tunables(tile));
  const auto measure = [&](const TrialRequest& request) { return landscape.measure(request); };
  std::vector<TrialRecord> told;
  Search first = search_for(tile, kAll);
  first.run(
      measure, [&](const TrialRecord& trial) { told.push_back(trial); }, Search::Clock::now());
  EXPECT_EQ(told.size(), 1U);
  Search second = search_for(tile, kAll);
  const Json line = to_json(told.front());
  second.recall(trial_record_from(JsonReader(line, "journal")));
  EXPECT_EQ(second.tried(), 1U);
  EXPECT_EQ(second.best(), first.best());
}

TEST(TuneSearch, AFewCandidatesAreFollowedByNeighbours) {
  const Entry& tile = entry_named("gemm.tile_unpacked");
  const auto& space = search_space(tile, product(17, 3, 63), small_device(), 1).candidates;
  ASSERT_GT(space.size(), 8U);
  Landscape landscape(standard_tunables(tile));
  Search search = search_for(tile, {.first = 2, .most = 8, .samples = 1, .final_samples = 1});
  const auto measure = [&](const TrialRequest& request) { return landscape.measure(request); };
  search.run(
      measure, [](const TrialRecord&) {}, Search::Clock::now() + std::chrono::hours(1));
  EXPECT_LE(landscape.calls, 8);
  EXPECT_EQ(search.best(), std::optional(standard_tunables(tile)));
}

TEST(TuneJournal, KeepsWholeLinesOfItsOwnJob) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "deep" / "job.jsonl";
  const Json job = {{"job", 1}};
  { Journal(path, job).append({{"trial", 1}}); }
  {
    std::ofstream torn(path, std::ios::app);
    torn << R"({"trial": 2)";
  }
  {
    Journal again(path, job);
    ASSERT_EQ(again.earlier().size(), 1U);
    EXPECT_EQ(again.earlier()[0], (Json{{"trial", 1}}));
    again.append({{"trial", 3}});
  }
  { EXPECT_EQ(Journal(path, job).earlier().size(), 2U); }
  {
    Journal other(path, {{"job", 2}});
    EXPECT_TRUE(other.earlier().empty());
    other.finish();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TuneJournal, IsOfOneProcessAtATime) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "job.jsonl";
  {
    const Journal journal(path, {{"job", 1}});
    EXPECT_THROW(Journal(path, {{"job", 1}}), UsageError);
  }
  EXPECT_NO_THROW(Journal(path, {{"job", 1}}));
}

TEST(TuneStore, NewFindingsReplaceOldOnesOfTheSameAndStaleOnes) {
  const TemporaryFolder folder;
  const TunedDevice device = TunedDevice::of(small_device());
  const auto path = tuning_file(folder.path(), device);
  const auto record = [](const std::string& hash, std::int64_t m, double ms) {
    TunedRecord one;
    one.kernel = "gemm.tile";
    one.hash = hash;
    one.problem = {families::gemm, product(m, 3, 63).extents, {}, {}, {}};
    one.ms = ms;
    one.efficiency = 0.5;
    return one;
  };
  const auto store = [&](const TunedRecord& one) {
    TunedData data;
    data.add(one);
    store_tuning(path, device, data, Catalogue());
    TunedData now;
    read_tuning_file(path, now);
    return now.records();
  };
  EXPECT_EQ(store(record("a", 17, 1.0)).size(), 1U);
  EXPECT_EQ(store(record("a", 1, 1.0)).size(), 2U);
  const auto replaced = store(record("a", 17, 2.0));
  ASSERT_EQ(replaced.size(), 2U);
  EXPECT_EQ(replaced[1].ms, 2.0);
  EXPECT_EQ(store(record("b", 17, 3.0)).size(), 1U) << "another version of the kernel";

  DeviceInfo other = small_device();
  other.name = "another";
  EXPECT_THROW(store_tuning(path, TunedDevice::of(other), TunedData{}, Catalogue()), ModelError);
  EXPECT_THROW(require_storable(path, TunedDevice::of(other)), ModelError);
  EXPECT_NO_THROW(require_storable(path, device));
  EXPECT_NO_THROW(require_storable(folder.path() / "none.json", device));
}

/// What was written before digests were of code is of the same version, and stays.
TEST(TuneStore, FindingsWithTheFilesDigestStayBesideNewOnes) {
  const TemporaryFolder folder;
  const Catalogue catalogue = Catalogue::standard();
  const EntryDigest& digest = catalogue.find_entry("gemm.tile")->program.digest;
  const TunedDevice device = TunedDevice::of(small_device());
  const auto path = tuning_file(folder.path(), device);
  const auto store = [&](const std::string& hash, std::int64_t m, const Catalogue& known) {
    TunedRecord one;
    one.kernel = "gemm.tile";
    one.hash = hash;
    one.problem = {families::gemm, product(m, 3, 63).extents, {}, {}, {}};
    one.ms = 1.0;
    one.efficiency = 0.5;
    TunedData data;
    data.add(one);
    store_tuning(path, device, data, known);
  };
  store(digest.files, 17, Catalogue());
  store(digest.files, 1, Catalogue());
  store(digest.kernel, 17, catalogue);
  TunedData now;
  read_tuning_file(path, now);
  ASSERT_EQ(now.records().size(), 2U);
  for (const TunedRecord& record : now.records()) EXPECT_EQ(record.hash, digest.kernel);
}

}  // namespace
}  // namespace morton::test
