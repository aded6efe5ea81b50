// SPDX-License-Identifier: Apache-2.0
//
// A word that is mistyped, or another program's, is answered with the one that is meant.
#include <gtest/gtest.h>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

struct Mistyped {
  std::vector<std::string> arguments;
  const char* part;
};

void expect_answers(const std::vector<Mistyped>& cases) {
  for (const Mistyped& mistyped : cases) {
    std::string line = "morton";
    for (const std::string& word : mistyped.arguments) line += " " + word;
    SCOPED_TRACE(line);
    expect_error(run_program(mistyped.arguments), kUsage, mistyped.part);
  }
}

TEST(CliMistyped, Commands) {
  expect_answers({
      {{"bnech"}, "there is no command 'bnech'; did you mean 'bench'?"},
      {{"rnu"}, "did you mean 'run'?"},
      {{"prof"}, "did you mean 'profile'?"},
      {{"benchmark"}, "did you mean 'bench'?"},
      {{"infer"}, "did you mean 'run'?"},
      {{"check"}, "did you mean 'doctor' or 'compare'?"},
      {{"help"}, "did you mean '--help'?"},
      {{"cache", "lst"}, "got 'lst'; did you mean 'list'?"},
  });
  // A hidden command is none to hint at.
  EXPECT_EQ(run_program({"complet"}).err.find("'complete'"), std::string::npos);
}

TEST(CliMistyped, Options) {
  expect_answers({
      {{"--quite"}, "did you mean '--quiet'?"},
      {{"run", kLenet, "--formt", "json"},
       "there is no option '--formt' here; did you mean '--format'?"},
      {{"run", kLenet, "--batchSize=3"}, "did you mean '--batch'?"},
      {{"run", kLenet, "--batch_size", "3"}, "did you mean '--batch'?"},
      {{"run", kLenet, "--cache_dir", "x"}, "did you mean '--cache-dir'?"},
      {{"run", kLenet, "--fp16"}, "did you mean '--precision f16'?"},
      {{"run", kLenet, "--use_gpu"}, "did you mean '--device gpu'?"},
      {{"run", kLenet, "--inputShapes", "x"}, "did you mean '--shape'?"},
      {{"run", kLenet, "--json"}, "did you mean '--format json'?"},
      {{"run", "--onnx", kLenet}, "the model stands without an option: `morton run MODEL`"},
      {{"run", "--graph=net.onnx"}, "the model stands without an option: `morton run MODEL`"},
      {{"bench", kLenet, "--num_runs", "5"}, "did you mean '--iterations'?"},
      {{"bench", kLenet, "--warmUp=5ms", "--min_secs=1"}, "did you mean '--warmup'?"},
      {{"train", "lenet5", "--learning-rate", "1"}, "did you mean '--lr'?"},
      {{"train", "lenet5", "--output", "x"}, "did you mean '--out'?"},
      // Of another command.
      {{"devices", "--top-k", "3"}, "did you mean `morton run --top-k`?"},
      {{"devices", "--epochs", "3"}, "did you mean `morton train --epochs`?"},
      {{"run", kLenet, "--learning_rate", "1"}, "did you mean `morton train --lr`?"},
  });
}

TEST(CliMistyped, OneDash) {
  expect_answers({
      {{"bench", kLenet, "-niter", "5"},
       "there is no option '-niter' here; did you mean '--iterations'?"},
      {{"run", kLenet, "-device", "0:0"}, "did you mean '--device'?"},
      {{"run", kLenet, "-input=x.png"}, "did you mean '--input'?"},
      {{"run", kLenet, "-infer_precision", "f16"}, "did you mean '--precision'?"},
      {{"run", "-model", kLenet}, "the model stands without an option"},
  });
  // Short options with their values, and values that begin with a dash, are as ever.
  EXPECT_EQ(run_program({"bench", kLenet, "-n2", "--warmup", "1ms", "-dcpu", "-qv"}).status, 0);
  expect_error(run_program({"plan", kLenet, "--exclude", "-device"}), kUsage, "-device");
}

TEST(CliMistyped, Values) {
  expect_answers({
      {{"run", kLenet, "--format", "jsn"},
       "--format: expected one of table, md, json, jsonl, csv; got 'jsn'; did you mean 'json'?"},
      {{"plan", kLenet, "--precision", "fp16"}, "got 'fp16'; did you mean 'f16'?"},
      {{"run", kLenet, "--start", "at_once"}, "did you mean 'at-once'?"},
      {{"run", kLenet, "--self-test", "onn"}, "did you mean 'on'?"},
      {{"plan", kLenet, "--conv", "nhcw"}, "did you mean 'nhwc'?"},
      {{"train", "lenet5", "--data", "data/mnist", "--optimizer", "adamm"},
       "did you mean 'adam' or 'adamw'?"},
      {{"tune", kLenet, "--effort", "norml"}, "did you mean 'normal'?"},
      {{"cache", "clear", "program"}, "did you mean 'programs'?"},
      {{"probe", "--what", "peeks"}, "did you mean 'peaks'?"},
      {{"inspect", kLenet, "--after", "fuse_epilog"}, "did you mean 'fuse_epilogues'?"},
      {{"run", "lenet55"}, "did you mean 'lenet5'?"},
      {{"new", "vgg61", "-o", "x.onnx"}, "near it: vgg16"},
  });
}

}  // namespace
}  // namespace morton::test
