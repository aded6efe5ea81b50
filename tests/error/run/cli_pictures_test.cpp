// SPDX-License-Identifier: Apache-2.0
//
// `morton run` on pictures: how they are prepared, and many files one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNet = "models/lenet5.onnx";  // grey pictures of 32x32

class CliPictures : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Three digits of 28x28, one of them cut short, and a file that is no picture.
  void write_digits() const {
    const std::filesystem::path data = std::filesystem::path(MORTON_SOURCE_DIR) / "examples/data";
    const std::string three = read_bytes(data / "digit_3.png");
    write_bytes(at("a3.png"), three);
    write_bytes(at("b.png"), three.substr(0, three.size() / 2));
    write_bytes(at("c7.png"), read_bytes(data / "digit_7.png"));
    write_bytes(at("notes.txt"), "no picture");
  }
  [[nodiscard]] Outcome run(std::vector<std::string> options) const {
    options.insert(options.begin(), {"run", kNet});
    return run_program(options);
  }
  [[nodiscard]] static std::vector<nlohmann::json> records_of(const std::string& text) {
    std::vector<nlohmann::json> records;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      records.push_back(nlohmann::json::parse(line));
    }
    return records;
  }

  TemporaryFolder folder_;
};

TEST_F(CliPictures, EachFileOfAFolder) {
  write_digits();
  for (const char* batch : {"1", "2"}) {
    SCOPED_TRACE(batch);
    const Outcome outcome =
        run({"-i", folder_.path().string(), "--top-k", "1", "--batch", batch, "--format", "jsonl"});
    EXPECT_EQ(outcome.status, kBadFile) << outcome.text();
    EXPECT_THAT(outcome.err, HasSubstr("1 of 3 files could not be read"));
    EXPECT_THAT(outcome.err, HasSubstr("left out"));
    const std::vector<nlohmann::json> records = records_of(outcome.out);
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0]["outputs"][0]["top"][0]["label"], "3");
    EXPECT_EQ(records[1]["file"], at("b.png"));
    EXPECT_THAT(records[1]["problem"].get<std::string>(), HasSubstr("damaged PNG"));
    EXPECT_EQ(records[2]["outputs"][0]["top"][0]["label"], "7");
  }
}

TEST_F(CliPictures, LinksThatLeadNowhereAreTold) {
  namespace fs = std::filesystem;
  write_digits();
  fs::remove(at("b.png"));
  fs::create_symlink("nothing.png", at("gone.png"));
  fs::create_symlink("round.png", at("round.png"));
  fs::create_symlink("a3.png", at("link\n3.png"));
  fs::create_directory(at("folder.png"));
  const Outcome outcome = run({"-i", folder_.path().string(), "--top-k", "1"});
  EXPECT_EQ(outcome.status, kBadFile) << outcome.text();
  EXPECT_THAT(outcome.err, HasSubstr("2 of 5 files could not be read"));
  EXPECT_THAT(outcome.err, HasSubstr("gone.png"));
  EXPECT_THAT(outcome.err, HasSubstr("symbolic links"));
  EXPECT_THAT(outcome.out, HasSubstr("link\\n3.png\"  3 "));  // a line for each file
  for (const char* name : {"gone.png", "round.png"}) {
    expect_error(run({"-i", at(name)}), kBadFile, name);
  }
}

TEST_F(CliPictures, GoOnWhereARunWasEnded) {
  write_digits();
  const std::vector<std::string> options{"-i", "input:" + at("*.png"), "--top-k", "1",
                                         "-o", at("answers.jsonl"),    "--resume"};
  EXPECT_EQ(run(options).status, kBadFile);
  // As if it had been ended in the middle of its third line.
  const std::string whole = read_bytes(at("answers.jsonl"));
  write_bytes(at("answers.jsonl"), whole.substr(0, whole.size() - 40));
  std::filesystem::remove(at("b.png"));
  const Outcome resumed = run(options);
  expect_success(resumed);
  EXPECT_THAT(resumed.err, HasSubstr("done already"));
  const std::vector<nlohmann::json> records = records_of(read_bytes(at("answers.jsonl")));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[2]["outputs"][0]["top"][0]["label"], "7");

  write_bytes(at("answers.jsonl"), "not a record\n");
  expect_error(run(options), kUsage, "--resume");
}

TEST_F(CliPictures, RecordsOfClasses) {
  write_digits();
  const Outcome outcome =
      run({"-i", at("[ac]*.png"), "--top-k", "2", "--format", "csv", "--batch", "1"});
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("file,output,rank,index,label,value,problem\n"));
  EXPECT_THAT(outcome.out, HasSubstr("c7.png,probabilities,1,7,7,0.9"));
}

TEST_F(CliPictures, WhatManyFilesCannotBe) {
  write_digits();
  const std::string all = at("*.png");
  expect_error(run({"-i", at("*.gif")}), kBadFile, "no files there");
  expect_error(run({"-i", all, "--format", "csv"}), kUsage, "--top-k");
  expect_error(run({"-i", all, "-o", at("x.npz")}), kUsage, ".jsonl");
  expect_error(run({"-i", all, "--steps", "2"}), kUsage, "--steps");
  expect_error(run({"-i", all, "-i", all}), kUsage, "one folder or pattern");
  expect_error(run({"-i", at("c7.png"), "--format", "csv"}), kUsage, "many files");
  expect_error(run({"-i", at("c7.png"), "--resume"}), kUsage, "--resume");
}

TEST_F(CliPictures, WhatPreparationCannotBe) {
  write_digits();
  const std::string digit = at("c7.png");
  expect_error(run({"-i", digit, "--preset", "imagenet22k"}), kUsage, "imagenet, inception");
  expect_error(run({"-i", digit, "--resize", "big"}), kUsage, "--resize big");
  expect_error(run({"-i", digit, "--crop", "0"}), kUsage, "--crop 0");
  expect_error(run({"-i", digit, "--filter", "bicubic"}), kUsage, "--resize or --preset");
  expect_error(run({"-i", digit, "--mean", "1,2"}), kUsage, "--mean");
  expect_error(run({"-i", digit, "--std", "0"}), kUsage, "--deviation");
  expect_error(run({"-i", digit, "--resize", "50"}), kUsage, "larger than the input");
  expect_error(run({"-i", "models/lenet5.expected.npz", "--mean", "1"}), kUsage, "pictures");
  expect_error(run_program({"compare", kNet, "--mean", "1"}), kUsage, "--mean");
  expect_success(run({"-i", digit, "--resize", "stretch", "--mean", "0.5", "--std", "0.5"}));
}

}  // namespace
}  // namespace morton::test
