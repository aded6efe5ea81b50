// SPDX-License-Identifier: Apache-2.0
//
// What a start leaves for later ones: the process behind an answer at once, and --prepare.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "error/cli_program.hpp"
#include "morton/files.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInBackground = "are built in the background";

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::int64_t mentions(const std::string& text, std::string_view part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class CliLaterStarts : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(cache()); }
  void TearDown() override { EXPECT_TRUE(background_ends()); }

  [[nodiscard]] fs::path cache() const { return folder_.path() / "cache"; }
  [[nodiscard]] Outcome run(const std::vector<std::string>& more,
                            std::map<std::string, std::string> variables = {}) const {
    std::vector<std::string> words{"run"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--cache-dir", cache().string()});
    variables.emplace("MORTON_BACKGROUND", "on");
    return run_program(words, variables);
  }
  /// Files that say which processes wait or work behind an answer.
  [[nodiscard]] std::int64_t places() const {
    return std::ranges::count_if(fs::directory_iterator(cache()), [](const auto& entry) {
      const std::string name = entry.path().filename().string();
      return name.starts_with("background.") && name != "background.lock";
    });
  }
  [[nodiscard]] bool background_ends() const {
    for (int i = 0; i < 3000; ++i) {
      if (!fs::is_directory(cache()) || places() == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  TemporaryFolder folder_;
};

TEST_F(CliLaterStarts, KeepNoFileOfTheCallerOpen) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);  // as a script's own files are: children inherit them
  const Outcome outcome = run({kLenet, "-i", kDigit});
  ::close(ends[1]);
  expect_success(outcome);
  EXPECT_TRUE(says(outcome.err, kInBackground)) << outcome.text();
  pollfd reader{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&reader, 1, 0), 1) << "somebody could still write to the pipe";
  EXPECT_EQ(reader.revents & POLLIN, 0) << "nobody wrote to it";
  ::close(ends[0]);
}

TEST_F(CliLaterStarts, WaitForOneAnother) {
  const int turn =
      ::open((cache() / "background.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(turn, LOCK_EX), 0);
  const std::vector<std::string> lenet{kLenet, "-i", kDigit};
  const Outcome first = run(lenet);
  EXPECT_TRUE(says(first.err, kInBackground)) << first.text();
  const Outcome again = run(lenet);
  EXPECT_TRUE(says(again.err, "another process builds this model")) << again.text();
  const Outcome other = run({"c18-cnn", "-i", kDigit});
  EXPECT_TRUE(says(other.err, kInBackground)) << other.text();
  EXPECT_EQ(places(), 2);
  ::close(turn);
  EXPECT_TRUE(background_ends());
  const Outcome later = run(lenet);
  EXPECT_TRUE(says(later.err, "0 built")) << later.text();
  EXPECT_FALSE(says(later.err, "generic kernels")) << later.text();
}

TEST_F(CliLaterStarts, AreOnOrOff) {
  expect_error(run({kLenet, "-i", kDigit}, {{"MORTON_BACKGROUND", "0"}}), 2, "on or off, got '0'");
}

TEST_F(CliLaterStarts, ArePreparedWithoutInputs) {
  const Outcome outcome = run({kLenet, "--prepare", "--batch", "2", "--format", "json"});
  expect_success(outcome);
  const auto value = nlohmann::json::parse(outcome.out);
  EXPECT_GT(value.at("kernels").at("built"), 0) << outcome.text();
  EXPECT_GT(value.at("generic_kernels").at("built"), 0) << outcome.text();
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"-o", "y.npy"}, {"--top-k", "3"}, {"--labels", "labels.txt"}}) {
    std::vector<std::string> words{kLenet, "--prepare"};
    words.insert(words.end(), more.begin(), more.end());
    expect_error(run(words), 2, "--prepare runs nothing");
  }
}

TEST_F(CliLaterStarts, AreNotPromisedWhereNothingIsKept) {
  fs::remove(cache());
  write_bytes(cache(), "in the way");
  expect_error(run({kLenet, "--prepare"}), 2, cache().string());
  const Outcome outcome = run({kLenet, "-i", kDigit});
  EXPECT_EQ(outcome.status, 0) << outcome.text();
  EXPECT_EQ(mentions(outcome.err, "warning: "), 1) << outcome.text();
  EXPECT_TRUE(says(outcome.err, "nothing is kept there")) << outcome.text();
  EXPECT_FALSE(says(outcome.err, kInBackground)) << outcome.text();
  const Outcome doctor = run_program({"doctor", "--cache-dir", cache().string()});
  EXPECT_EQ(doctor.status, 1) << doctor.text();
  EXPECT_FALSE(says(doctor.out, "answers at once")) << doctor.text();
  const Outcome list = run_program({"cache", "list", "--cache-dir", cache().string()});
  EXPECT_TRUE(says(list.out, "is no folder")) << list.text();
}

TEST_F(CliLaterStarts, SayThatNoFolderIsKnown) {
  const Outcome outcome =
      run_program({"run", kLenet, "-i", kDigit},
                  {{"HOME", ""}, {"XDG_CACHE_HOME", ""}, {"MORTON_CACHE_DIR", ""}});
  EXPECT_TRUE(says(outcome.err, "warning: each start builds its kernels")) << outcome.text();
}

TEST_F(CliLaterStarts, AreNoneForKernelsThatAreAskedFor) {
  const std::vector<std::string> chosen{kLenet, "--start", "at-once", "--use", "gemm=gemm.naive"};
  std::vector<std::string> plan{"plan"};
  plan.insert(plan.end(), chosen.begin(), chosen.end());
  expect_error(run_program(plan), 2, "--use says which kernels compute");
  std::vector<std::string> words = chosen;
  words.insert(words.end(), {"-i", kDigit});
  const Outcome outcome = run(words);
  EXPECT_TRUE(says(outcome.err, "--start at-once: --use says which")) << outcome.text();
}

/// Doubles have no generic kernels: the kernels of the interim plan are the model's own.
TEST_F(CliLaterStarts, AreNotAwaitedByKernelsThatAreBuilt) {
  onnx::ModelProto model = model_with_input({3});
  for (const auto& [from, to, type] : {std::tuple{"x", "wide", onnx::TensorProto::DOUBLE},
                                       {"square", "y", onnx::TensorProto::FLOAT}}) {
    if (std::string_view(from) == "square") add_node(model, "Mul", {"wide", "wide"}, "square");
    auto* kind = add_node(model, "Cast", {from}, to).add_attribute();
    kind->set_name("to");
    kind->set_type(onnx::AttributeProto::INT);
    kind->set_i(type);
  }
  const std::string path = save(model, folder_.path() / "square.onnx");
  const NamedTensor input{"x", Tensor::allocate(DType::f32, {3})};
  write_tensors((folder_.path() / "x.npz").string(), {&input, 1});
  const Outcome outcome = run({path, "-i", (folder_.path() / "x.npz").string()});
  expect_success(outcome);
  EXPECT_FALSE(says(outcome.err, "generic kernels")) << outcome.text();
  EXPECT_FALSE(says(outcome.err, " 0 built")) << outcome.text();
  EXPECT_EQ(places(), 0);
}

/// The search counts building, which is no time of a run.
TEST(CliInterimPlan, EstimatesRunsAlone) {
  const TemporaryFolder folder;
  onnx::ModelProto model = model_with_input({3});
  add_weights(model, "w", {5, 4});
  auto* to = add_node(model, "Cast", {"x"}, "index").add_attribute();
  to->set_name("to");
  to->set_type(onnx::AttributeProto::INT);
  to->set_i(onnx::TensorProto::INT64);
  add_node(model, "Gather", {"w", "index"}, "y");
  const std::string path = save(model, folder.path() / "rows.onnx");
  const Outcome outcome = run_program({"plan", path, "--start", "at-once", "--format", "json"});
  expect_success(outcome);
  const auto plan = nlohmann::json::parse(outcome.out);
  for (const auto& step : plan.at("steps")) {
    EXPECT_LT(step.at("estimated_us"), 1e4) << step.dump();
    EXPECT_GT(step.at("estimated_us"), 0.0) << step.dump();
  }
}

}  // namespace
}  // namespace morton::test
