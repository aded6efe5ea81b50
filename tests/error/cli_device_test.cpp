// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> classify(const fs::path& cache) {
  return {"run",         kLenet,         "-i",      std::string("input:") + kDigit,
          "--cache-dir", cache.string(), "--top-k", "3"};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Files below a folder; none when it does not exist.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST(CliDevice, NoDriver) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> none{{"OCL_ICD_VENDORS", folder.path().string()}};
  expect_error(run_program({"devices"}, none), kDevice, "morton doctor");
  expect_error(run_program({"run", kLenet, "-i", kDigit}, none), kDevice, "morton doctor");
  expect_error(run_program({"bench", kLenet, "-n", "1"}, none), kDevice, "morton doctor");
  expect_error(run_program({"demo"}, none), kDevice, "morton doctor");

  const Outcome doctor = run_program({"doctor"}, none);
  EXPECT_EQ(doctor.status, kDevice) << doctor.text();
  EXPECT_TRUE(contains(doctor.out, "failed")) << doctor.text();
  EXPECT_TRUE(contains(doctor.out, "fix: ")) << doctor.text();
}

TEST(CliDevice, PlansWithoutOne) {
  const TemporaryFolder folder;
  const std::string description = (folder.path() / "devices.json").string();
  expect_success(run_program({"devices", "--format", "json", "-o", description}));
  const auto devices = nlohmann::json::parse(read_bytes(description));
  const std::string id = devices.at(0).at("id").get<std::string>();
  const fs::path empty = folder.path() / "empty";
  fs::create_directory(empty);
  const Outcome plan =
      run_program({"plan", kLenet, "--why", "--device-info", description, "--device", id},
                  {{"OCL_ICD_VENDORS", empty.string()}});
  expect_success(plan);
  EXPECT_TRUE(contains(plan.out, "C1")) << plan.text();
  expect_error(
      run_program({"plan", kLenet, "--device-info", description, "--device", "no such device"}),
      kUsage, "no such device");
}

TEST(CliDevice, SplitsTheOpenExtentWhereverItIs) {
  const TemporaryFolder folder;
  const std::string description = (folder.path() / "devices.json").string();
  expect_success(run_program({"devices", "--format", "json", "-o", description}));
  auto devices = nlohmann::json::parse(read_bytes(description));
  devices = nlohmann::json::array({devices.at(0), devices.at(0)});
  devices[0]["id"] = "7:0";
  devices[1]["id"] = "7:1";
  write_bytes(description, devices.dump());
  const auto plan = [&](const std::string& model, const std::string& batch) {
    return run_program(
        {"plan", model, "--device-info", description, "-d", "7:0,7:1", "--batch", batch});
  };
  const Outcome columns = plan("r17-digits", "5");
  expect_success(columns);
  EXPECT_TRUE(contains(columns.out, "784 stretches of ")) << columns.text();
  expect_error(plan("r17-digits", "1"), kUsage, "a batch of 1 cannot be split over 2 devices");
  onnx::ModelProto fixed = model_with_input({7, 5});
  add_node(fixed, "Relu", {"x"}, "y");
  expect_error(plan(save(fixed, folder.path() / "fixed.onnx"), "7"), kBadFile,
               "leaves an extent open");
  onnx::ModelProto along = model_with_input({7, 5});
  auto& extent = *along.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  extent.mutable_shape()->mutable_dim(1)->set_dim_param("batch");
  add_node(along, "Softmax", {"x"}, "y");  // along the last extent
  expect_error(plan(save(along, folder.path() / "along.onnx"), "5"), kBadFile,
               "computes along its rows");
}

TEST(CliDevice, KernelsComeFromTheCache) {
  const TemporaryFolder cache;
  const Outcome first = run_program(classify(cache.path()));
  expect_success(first);
  EXPECT_TRUE(contains(first.err, "kernels: 0 from cache, ")) << first.text();
  const Outcome second = run_program(classify(cache.path()));
  expect_success(second);
  EXPECT_TRUE(contains(second.err, " from cache, 0 built")) << second.text();
  EXPECT_FALSE(contains(second.err, "warning:")) << second.text();
  EXPECT_EQ(first.out, second.out);
}

/// The files below a folder when none has come for two seconds.
std::vector<fs::path> files_at_rest(const fs::path& folder) {
  std::vector<fs::path> before;
  for (int seconds = 0; seconds < 60; seconds += 2) {
    std::vector<fs::path> now = files_below(folder);
    if (!now.empty() && now == before) break;
    before = std::move(now);
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  return before;
}

TEST(CliDevice, DamagedCache) {
  const TemporaryFolder cache;
  const Outcome first = run_program(classify(cache.path()));
  expect_success(first);
  const auto damage_all = [&](const auto& damage) {
    // A run may leave kernels that are built in the background for later starts.
    const std::vector<fs::path> files = files_at_rest(cache.path());
    ASSERT_FALSE(files.empty());
    for (const fs::path& file : files) write_bytes(file, damage(read_bytes(file)));
    const Outcome again = run_program(classify(cache.path()));
    expect_success(again);
    EXPECT_EQ(again.out, first.out);
    EXPECT_TRUE(contains(again.err, "warning:")) << again.text();
    EXPECT_TRUE(contains(again.err, "0 from cache")) << again.text();
  };
  {
    SCOPED_TRACE("flipped bits in the middle");
    damage_all([](std::string bytes) {
      for (std::size_t i = bytes.size() / 2; i < bytes.size() && i < bytes.size() / 2 + 17; ++i) {
        bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
      }
      return bytes;
    });
  }
  {
    SCOPED_TRACE("flipped bits at the head");
    damage_all([](std::string bytes) {
      for (std::size_t i = 0; i < bytes.size() && i < 3; ++i) {
        bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
      }
      return bytes;
    });
  }
  {
    SCOPED_TRACE("truncated");
    damage_all([](const std::string& bytes) { return bytes.substr(0, bytes.size() - 1); });
  }
  {
    SCOPED_TRACE("empty");
    damage_all([](const std::string&) { return std::string(); });
  }
  {
    SCOPED_TRACE("noise");
    damage_all([](const std::string& bytes) { return random_bytes(bytes.size(), 1); });
  }
}

TEST(CliDevice, CacheFolderThatCannotBeWritten) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  write_bytes(file, "not a folder");
  // Not permissions, which do not hold for root: a file stands where a folder should be.
  const Outcome outcome = run_program(classify(file / "cache"));
  expect_success(outcome);
  EXPECT_TRUE(contains(outcome.err, "warning:")) << outcome.text();
  EXPECT_TRUE(contains(outcome.out, "7  ")) << outcome.text();
}

/// A kernel for matrix products in `folder`, with this text.
std::string write_kernel(const fs::path& folder, const std::string& text) {
  write_bytes(folder / "broken.cl", text);
  const char* any = R"({"layout": "any", "types": ["f32"]})";
  const std::string operands =
      std::string(R"({"lhs": )") + any + R"(, "rhs": )" + any + R"(, "dst": )" + any + "}";
  write_bytes(folder / "broken.json", R"json({
    "schema": 1, "name": "gemm.broken", "problem": "gemm",
    "source": "broken.cl", "function": "broken",
    "operands": )json" + operands + R"json(,
    "edges": "guard", "arguments": ["M", "N", "K", "lhs", "rhs", "dst"],
    "global": ["round_up(N, 8)", "round_up(M, 8)"], "local": [8, 8],
    "epilogue": ["any"], "cost": {"flop": "2*M*N*K", "efficiency": {"cpu": 0.01, "gpu": 0.01}}})json");
  return (folder / "broken.json").string();
}

TEST(CliDevice, KernelThatDoesNotCompile) {
  const TemporaryFolder folder;
  const std::string entry = write_kernel(
      folder.path(), "__kernel ATTRIBUTES void broken(ARGUMENTS) { this is no OpenCL; }\n");
  onnx::ModelProto model = model_with_input({3, 17});
  add_weights(model, "w", {17, 5});
  add_node(model, "MatMul", {"x", "w"}, "y");
  const std::string path = save(model, folder.path() / "product.onnx");
  expect_error(run_program({"bench", path, "-n", "1", "--catalogue", entry, "--use",
                            "gemm=gemm.broken", "--cache-dir", folder.path().string()}),
               kDevice, "broken");
}

TEST(CliDevice, CatalogueFilesThatAreWrong) {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing.json").string();
  expect_error(run_program({"plan", kLenet, "--catalogue", missing}), kBadFile, missing);
  const std::string path = (folder.path() / "wrong.json").string();
  for (const char* text : {"", "{", "{\"schema\": 1}", "[1, 2]"}) {
    SCOPED_TRACE(text);
    write_bytes(path, text);
    expect_error(run_program({"plan", kLenet, "--catalogue", path}), kBadFile, path);
  }
}

TEST(CliDevice, MemoryHasTheLimitThatIsSaid) {
  const TemporaryFolder folder;
  const auto run_within = [&](const std::string& limit) {
    std::vector<std::string> words = classify(folder.path());
    words.insert(words.end(), {"--memory-limit", limit});
    return run_program(words);
  };
  expect_success(run_within("16MiB"));
  expect_error(run_within("256KiB"), kDevice, "--memory-limit");
  expect_error(run_within("0"), kUsage, "--memory-limit");
  expect_error(run_program(classify(folder.path()), {{"MORTON_MEMORY_LIMIT", "262144"}}), kDevice,
               "--memory-limit");
  expect_error(run_program(classify(folder.path()), {{"MORTON_MEMORY_LIMIT", "256KiB"}}), kUsage,
               "MORTON_MEMORY_LIMIT");
}

TEST(CliOutput, JsonIsAloneOnStandardOutput) {
  const std::vector<std::vector<std::string>> commands{
      {"devices", "--format", "json"},
      {"doctor", "--format", "json"},
      {"inspect", kLenet, "--format", "json"},
      {"run", kLenet, "-i", kDigit, "--top-k", "2", "--format", "json", "-v"},
      {"bench", kLenet, "-n", "3", "--warmup", "0s", "--format", "json"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command.front());
    const Outcome outcome = run_program(command);
    expect_success(outcome);
    EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << outcome.text();
  }
}

TEST(CliOutput, ClocksOfABench) {
  const Outcome outcome =
      run_program({"bench", kLenet, "-n", "5", "--warmup", "0s", "--format", "json"});
  expect_success(outcome);
  const auto value = nlohmann::json::parse(outcome.out);
  for (const char* clock : {"host", "enqueue"}) {
    const auto& times = value.at("clocks").at(clock);
    EXPECT_EQ(times.at("n"), 5) << clock;
    EXPECT_GT(times.at("min_ms").get<double>(), 0.0) << clock;
    EXPECT_LE(times.at("min_ms"), times.at("p50_ms")) << clock;
    EXPECT_LE(times.at("p50_ms"), times.at("p99_ms")) << clock;
    EXPECT_LE(times.at("p99_ms"), times.at("max_ms")) << clock;
  }
  EXPECT_LE(value["clocks"]["enqueue"]["min_ms"], value["clocks"]["host"]["min_ms"]);
  EXPECT_GT(value.at("memory").at("weight_bytes").get<std::int64_t>(), 0);
}

}  // namespace
}  // namespace morton::test
