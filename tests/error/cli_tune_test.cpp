// SPDX-License-Identifier: Apache-2.0
//
// The tuner as its users meet it: what it finds is used, what is wrong or deadly is refused, and a
// killed run goes on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using nlohmann::json;

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A kernel that is right with WAY 0 and 4, leaves out the last term of each sum with 1, writes far
/// outside its memory with 2, and does not end with 3.
std::string write_planted_kernel(const std::filesystem::path& folder, const std::string& ways) {
  write_bytes(folder / "planted.cl", R"(
__kernel ATTRIBUTES void planted(ARGUMENTS) {
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k + (WAY == 1) < K; ++k) sum += LOAD_lhs(m, k) * LOAD_rhs(k, n);
#if WAY == 2
  ((volatile __global float*)dst)[(long)K << 36] = sum;
#elif WAY == 3
  while (((volatile __global float*)dst)[0] == ((volatile __global float*)dst)[0] || K > 0) {
  }
#endif
  STORE_dst(m, n, EPILOGUE(sum, m, n));
}
)");
  write_bytes(folder / "planted.json", R"({
  "schema": 1, "name": "gemm.planted", "problem": "gemm", "source": "planted.cl",
  "function": "planted",
  "operands": {
    "lhs": {"layout": "any", "types": ["f32"]},
    "rhs": {"layout": "any", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"]}
  },
  "edges": "guard",
  "arguments": ["K", "lhs", "rhs", "dst"],
  "global": ["N", "M"], "local": [1, 1],
  "tunables": {"WAY": {"values": )" + ways +
                                           R"(, "standard": 0}},
  "epilogue": ["any"],
  "cost": {"flop": "2*M*N*K", "efficiency": {"cpu": 0.01, "gpu": 0.01}}
})");
  return (folder / "planted.json").string();
}

const std::vector<std::string> kTune{"tune", "gemm", "--m", "17",       "--n",
                                     "3",    "--k",  "63",  "--format", "json"};

std::map<std::string, std::string> cache_in(const TemporaryFolder& folder) {
  return {{"MORTON_CACHE_DIR", (folder.path() / "cache").string()}};
}

/// The refusal of these values, or nothing.
std::string refusal_of(const json& result, int way) {
  for (const json& one : result.at("refused")) {
    if (one.at("tunables").at("WAY") == way) return one.at("why");
  }
  return "";
}

TEST(CliTune, WhatIsFoundIsUsedByLaterPlans) {
  const TemporaryFolder folder;
  const auto cache = cache_in(folder);
  const Outcome outcome = run_program(
      with(kTune, {"--kernel", "tile_unpacked", "--effort", "fast", "--time-budget", "60s"}),
      cache);
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result.at("results").size(), 1U) << outcome.text();
  const json& found = result.at("results").at(0);
  EXPECT_EQ(found.at("kernel"), "gemm.tile_unpacked");
  EXPECT_GT(found.at("ms").get<double>(), 0.0);
  EXPECT_GT(found.at("share_of_peak").get<double>(), 0.0);
  EXPECT_GE(found.at("tried"), 4);
  EXPECT_TRUE(std::filesystem::exists(result.at("file").get<std::string>()));

  const std::vector<std::string> bench{"bench",    "gemm", "--m",   "17",
                                       "--n",      "3",    "--k",   "63",
                                       "-n",       "1",    "--use", "gemm=tile_unpacked",
                                       "--format", "json"};
  const Outcome used = run_program(bench, cache);
  expect_success(used);
  EXPECT_EQ(json::parse(used.out).at("contenders").at(0).at("tunables").at("gemm.tile_unpacked"),
            found.at("tunables"));

  const Outcome report = run_program({"tune", "--report", "--format", "json"}, cache);
  expect_success(report);
  EXPECT_NE(report.out.find("gemm M=17 N=3 K=63"), std::string::npos) << report.text();
}

TEST(CliTune, AModelsConvolutionsAreTunedAndItsPlanUsesThem) {
  const TemporaryFolder folder;
  const auto cache = cache_in(folder);
  const std::vector<std::string> lenet{MORTON_SOURCE_DIR "/models/lenet5.onnx", "--batch", "3",
                                       "--device", "cpu"};
  const std::vector<std::string> joined{"--use", "conv2d_pool=conv2d_pool.planes"};
  const Outcome outcome = run_program(with(with(with({"tune"}, lenet), joined),
                                           {"--kernel", "conv2d_pool.planes", "--effort", "fast",
                                            "--time-budget", "10s", "--format", "json"}),
                                      cache);
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result.at("results").size(), 2U) << outcome.text();
  for (const json& one : result.at("results")) EXPECT_GT(one.at("ms").get<double>(), 0.0);
  EXPECT_GT(result.at("network").at("before_ms").get<double>(), 0.0);
  EXPECT_GT(result.at("network").at("after_ms").get<double>(), 0.0);

  const Outcome plan = run_program(with(with(with({"plan"}, lenet), joined), {"--why"}), cache);
  expect_success(plan);
  EXPECT_NE(plan.out.find("tuned on this device for this problem"), std::string::npos)
      << plan.text();
  expect_success(run_program(with(with({"compare"}, lenet), joined), cache));
}

/// A file that cannot take the result is refused before anything is measured.
TEST(CliTune, AFileThatIsNotForThisDeviceIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::vector<std::string> tune{"tune", kLenet, "--effort", "fast", "-o"};
  const std::string none = (folder.path() / "none.json").string();
  write_bytes(none, "{}");
  expect_error(run_program(with(tune, {none}), cache_in(folder)), 3, "none.json");
  EXPECT_EQ(read_bytes(none), "{}");
  const std::string below = (folder.path() / "none.json" / "x.json").string();
  expect_error(run_program(with(tune, {below}), cache_in(folder)), kUsage, "cannot be written");
}

/// The last word is a measurement of the whole network.
TEST(CliTune, AModelIsNeverLeftSlower) {
  const TemporaryFolder folder;
  const auto cache = cache_in(folder);
  const Outcome outcome =
      run_program({"tune", MORTON_SOURCE_DIR "/models/lenet5.onnx", "--batch", "3", "--device",
                   "cpu", "--effort", "fast", "--time-budget", "1s", "--format", "json"},
                  cache);
  expect_success(outcome);
  const json network = json::parse(outcome.out).at("network");
  if (network.is_null()) {
    EXPECT_NE(outcome.err.find("none are kept"), std::string::npos) << outcome.text();
  } else {
    EXPECT_LE(network.at("after_ms").get<double>(), 1.01 * network.at("before_ms").get<double>());
  }
  // What it found meanwhile is gone, whether it was kept or not.
  for (const auto& file :
       std::filesystem::directory_iterator(folder.path() / "cache" / "tuning" / "journal")) {
    ADD_FAILURE() << file.path();
  }
}

TEST(CliTune, WrongAndDeadlyCandidatesAreRefusedAndTheSearchGoesOn) {
  const TemporaryFolder folder;
  const auto cache = cache_in(folder);
  const std::string catalogue = write_planted_kernel(folder.path(), "[0, 1, 2, 4]");
  const Outcome outcome = run_program(
      with(kTune, {"--kernel", "planted", "--catalogue", catalogue, "--effort", "full"}), cache);
  EXPECT_EQ(outcome.status, 0) << outcome.text();
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result.at("results").size(), 1U) << outcome.text();
  EXPECT_EQ(result.at("results").at(0).at("tried"), 4);
  EXPECT_EQ(result.at("refused").size(), 2U) << outcome.text();
  EXPECT_NE(refusal_of(result, 1).find("wrong result: dst["), std::string::npos) << outcome.text();
  EXPECT_NE(refusal_of(result, 2), "") << outcome.text();

  // The planner obeys the verdicts, and says why.
  const std::vector<std::string> bench{"bench", "gemm",         "--m",         "5",      "--n",
                                       "3",     "--k",          "7",           "-n",     "1",
                                       "--use", "gemm=planted", "--catalogue", catalogue};
  for (const char* way : {"1", "2"}) {
    const Outcome refused =
        run_program(with(bench, {"--set", std::string("gemm.planted:WAY=") + way}), cache);
    EXPECT_EQ(refused.status, kUsage) << refused.text();
    EXPECT_NE(refused.err.find("is refused on this device"), std::string::npos) << refused.text();
  }
  expect_success(run_program(with(bench, {"--set", "gemm.planted:WAY=4"}), cache));
}

TEST(CliTune, ACandidateThatDoesNotEndIsRefused) {
  const TemporaryFolder folder;
  const std::string catalogue = write_planted_kernel(folder.path(), "[0, 3]");
  const Outcome outcome =
      run_program(with(kTune, {"--kernel", "planted", "--catalogue", catalogue, "--effort", "full",
                               "--candidate-timeout", "12s"}),
                  cache_in(folder));
  EXPECT_EQ(outcome.status, 0) << outcome.text();
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("results").size(), 1U) << outcome.text();
  EXPECT_NE(refusal_of(result, 3).find("did not end within 12 s"), std::string::npos)
      << outcome.text();
}

/// Lines of the only journal below the cache folder; 0 where there is none.
int journal_lines(const std::filesystem::path& cache) {
  std::error_code status;
  for (const auto& file :
       std::filesystem::directory_iterator(cache / "tuning" / "journal", status)) {
    const std::string text = read_bytes(file.path());
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
  return 0;
}

TEST(CliTune, AKilledRunGoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::filesystem::path cache = folder.path() / "cache";
  const std::vector<std::string> job =
      with(kTune, {"--kernel", "tile_unpacked", "--effort", "full", "--cache-dir", cache.string()});
  std::vector<std::string> words = with({MORTON_PROGRAM}, job);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, MORTON_PROGRAM, &actions, nullptr, arguments.data(), ::environ),
            0);
  ::posix_spawn_file_actions_destroy(&actions);
  // The job and three candidates.
  constexpr int kLines = 4;
  for (int i = 0; i < 6000 && journal_lines(cache) < kLines; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  int state = 0;
  ::waitpid(child, &state, 0);
  ASSERT_TRUE(WIFSIGNALED(state)) << "it ended before it could be killed";
  const int known = journal_lines(cache) - 1;
  ASSERT_GE(known, kLines - 1);

  const Outcome outcome = run_program(job);
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("recalled"), known);
  ASSERT_EQ(result.at("results").size(), 1U) << outcome.text();
  EXPECT_EQ(result.at("results").at(0).at("tried"), result.at("results").at(0).at("space"));
  EXPECT_EQ(journal_lines(cache), 0) << "the journal of a finished job is removed";
}

TEST(CliTune, TheCacheIsListedExportedImportedAndCleared) {
  const TemporaryFolder folder;
  const auto cache = cache_in(folder);
  const std::string file = (folder.path() / "tuning.json").string();
  expect_success(
      run_program(with(kTune, {"--kernel", "tile_unpacked", "--effort", "fast"}), cache));
  expect_success(run_program({"cache", "export", "-o", file}, cache));
  const Outcome cleared = run_program({"cache", "clear", "tuning"}, cache);
  expect_success(cleared);
  EXPECT_EQ(cleared.out, "removed 1 files\n");
  const std::vector<std::string> list{"cache", "list", "--format", "json"};
  EXPECT_TRUE(json::parse(run_program(list, cache).out).at("tuning").empty());
  const Outcome imported = run_program({"cache", "import", file}, cache);
  expect_success(imported);
  EXPECT_EQ(imported.out, "imported 1 records\n");
  expect_success(run_program({"plan", kLenet, "--tuning", file}, cache));
  const json content = json::parse(run_program(list, cache).out);
  ASSERT_EQ(content.at("tuning").size(), 1U);
  EXPECT_EQ(content.at("tuning").at(0).at("records"), 1);

  write_bytes(file, "{}");
  expect_error(run_program({"cache", "import", file}, cache), 3, "the key 'schema' is missing");
}

TEST(CliTune, ADamagedFileSaysHowToBeRidOfIt) {
  const TemporaryFolder folder;
  const auto cache = cache_in(folder);
  std::filesystem::create_directories(folder.path() / "cache" / "tuning");
  write_bytes(folder.path() / "cache" / "tuning" / "a.json", "{}");
  const std::vector<std::string> plan{"plan", kLenet};
  expect_error(run_program(plan, cache), 3, "`morton cache clear tuning`");
  expect_success(run_program({"cache", "clear", "tuning"}, cache));
  expect_success(run_program(plan, cache));
}

TEST(CliTune, WrongCommandLines) {
  expect_error(run_program({"tune"}), kUsage, "MODEL, gemm, --static or --report");
  expect_error(run_program(with(kTune, {"--effort", "much"})), kUsage, "--effort");
  expect_error(run_program(with(kTune, {"--time-budget", "1y"})), kUsage, "'1y' is no time");
  expect_error(run_program(with(kTune, {"--kernel", "of_nobody"})), kUsage, "gemm.tile_unpacked");
  expect_error(run_program({"cache", "clear", "half"}), kUsage, "half");
  expect_error(run_program(with(kTune, {"--candidate-timeout", "1s"})), kUsage, "10 s at least");
  expect_error(run_program(with(kTune, {"--time-budget", "1e300s"})), kUsage, "too long");
  expect_error(run_program(with(kTune, {"--weights", "2:1"})), kUsage, "one device");
  // The file is no place for the result; that is said before any time is spent.
  expect_error(run_program(with(kTune, {"-o", "README.md"})), 3, "README.md");
  expect_error(run_program({"tune", "gemm", "--m", "3000000000", "--n", "8", "--k", "8"}), 3,
               "more elements than kernels index");
}

TEST(CliTune, NoOptionIsPassedOverInSilence) {
  expect_error(
      run_program({"tune", "--effort", "fast", "gemm", "--m", "1", "--n", "1", "--k", "1"}), kUsage,
      "--effort");
  expect_error(run_program(with(kTune, {"--batch", "4"})), kUsage, "--batch");
  expect_error(run_program({"tune", kLenet, "gemm", "--m", "1", "--n", "1", "--k", "1"}), kUsage,
               "model");
  expect_error(run_program({"tune", "--report", "--effort", "full"}), kUsage, "--effort");
  expect_error(run_program({"bench", "--seed", "2", "gemm", "--m", "1", "--n", "1", "--k", "1"}),
               kUsage, "--seed");
}

TEST(CliTuneStatic, NeedsACompilerThatSaysSomething) {
  const TemporaryFolder folder;
  expect_error(run_program({"tune", "--static", "--kernel", "gemm.naive", "-o",
                            (folder / "costs.json").string()}),
               kBadFile, "prints no statistics");
}

TEST(CliTuneStatic, SaysWhatGoesWithIt) {
  expect_error(run_program({"tune", "models/lenet5.onnx", "--check-on", "cpu"}), kUsage,
               "goes with --static");
  expect_error(run_program({"tune", "--static", "--effort", "full"}), kUsage,
               "does not read it there");
  expect_error(run_program({"tune", "--static", "--kernel", "gemm.nave"}), kUsage, "gemm.naive");
}

}  // namespace
}  // namespace morton::test
