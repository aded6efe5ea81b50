// SPDX-License-Identifier: Apache-2.0
//
// `morton new`, and R17's files on the command line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "morton/files.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

constexpr const char* kNetwork = "examples/r17/network.json";
constexpr const char* kInput = "input:examples/r17/input.json";
constexpr const char* kLibrary = "examples/r17/library.json";

TEST(CliNew, EveryArchitectureIsListed) {
  const Outcome help = run_program({"new", "--help"});
  expect_success(help);
  for (const char* name :
       {"r17-digits", "r17-2500", "r17-cifar", "r17-640", "r17-256", "c18-mlp", "lenet5"}) {
    EXPECT_NE(help.out.find(name), std::string::npos) << name;
  }
}

TEST(CliNew, WhatCannotBeMade) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  expect_error(run_program({"new", "lenet6", "-o", at("a.onnx")}), kUsage,
               "no architecture 'lenet6' (known: ");
  expect_error(run_program({"new", "lenet5", "-o", at("a.pt")}), kUsage,
               "models are written to .onnx and .json files");
  expect_error(run_program({"new", "lenet5"}), kUsage, "--output");
  expect_error(run_program({"new", "lenet5", "-o", at("a.onnx"), "--seed", "-1"}), kUsage,
               "--seed: expected a whole number of 0 or more, got '-1'");
  expect_error(run_program({"new", "lenet5", "-o", at("a.json")}), kBadFile,
               "node 'C1' (Conv): no layer computes it");
  write_bytes(folder.path() / "file", "");
  expect_error(run_program({"new", "lenet5", "-o", at("file/a.onnx")}), kUsage, "file");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a.json"));
}

TEST(CliNew, TheSameSeedGivesTheSameFile) {
  const TemporaryFolder folder;
  const auto made = [&](const char* seed) {
    const std::string path = (folder.path() / "net.onnx").string();
    expect_success(run_program({"new", "r17-256", "-o", path, "--seed", seed}));
    return read_bytes(path);
  };
  EXPECT_EQ(made("3"), made("3"));
  EXPECT_NE(made("3"), made("4"));
}

TEST(CliR17, NetworkMatrixAndLibraryRun) {
  const TemporaryFolder folder;
  for (const char* kernel : {"gemm.naive", "product_rm", "product_morton"}) {
    const std::string path = (folder.path() / (std::string(kernel) + ".npy")).string();
    expect_success(run_program({"run", kNetwork, "-i", kInput, "--catalogue", kLibrary, "--use",
                                std::string("gemm=") + kernel, "-o", path}));
    const Tensor answer = read_tensors(path).at(0).tensor;
    EXPECT_EQ(answer.shape(), (Shape{10, 3}));
    const Tensor first = read_tensors((folder.path() / "gemm.naive.npy").string()).at(0).tensor;
    for (std::int64_t i = 0; i < answer.size(); ++i) EXPECT_NEAR(answer.at(i), first.at(i), 1e-4);
  }
}

TEST(CliR17, RanksTheClassesOfEachColumn) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "answer.npy").string();
  const Outcome run =
      run_program({"run", kNetwork, "-i", kInput, "--top-k", "1", "-o", path, "--format", "json"});
  expect_success(run);
  const Tensor answer = read_tensors(path).at(0).tensor;  // [classes, inputs]
  const auto top = nlohmann::json::parse(run.out).at("outputs").at(0).at("top");
  ASSERT_EQ(top.size(), 3U);
  for (std::int64_t column = 0; column < 3; ++column) {
    std::int64_t best = 0;
    for (std::int64_t row = 1; row < 10; ++row) {
      if (answer.at(row * 3 + column) > answer.at(best * 3 + column)) best = row;
    }
    EXPECT_EQ(top.at(static_cast<std::size_t>(column)).at(0).at("index"), best);
  }
}

TEST(CliR17, TheOtherCommandsTakeThem) {
  expect_success(run_program({"inspect", kNetwork}));
  expect_success(run_program({"plan", kNetwork, "-b", "17", "--catalogue", kLibrary, "--use",
                              "gemm=product_morton", "--why"}));
  expect_success(run_program({"bench", kNetwork, "-b", "3", "-n", "2", "--warmup", "1ms"}));
}

TEST(CliR17, BadFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string net = (folder.path() / "net.json").string();
  write_bytes(net,
              R"({"layers": [{"layer": "AffineLayer", "weights": "w.json", "biases": "b.json"}],
                       "size": 1})");
  expect_error(run_program({"inspect", net}), kBadFile, "layers[0].weights");
  expect_error(run_program({"inspect", kLibrary}), kBadFile, "unknown key 'sources'");
  const std::string library = (folder.path() / "library.json").string();
  write_bytes(library, R"({"sources": [{"codename": "mat3", "function": "f", "source": "lib.cl",
                                        "restrictions": {}}]})");
  const auto plan = [&] {
    return run_program({"plan", kNetwork, "-q", "--catalogue", library, "--use", "gemm=mat3"});
  };
  expect_error(plan(), kBadFile, "lib.cl");
  write_bytes(folder.path() / "lib.cl", "__kernel void f(__global float* mat) {}\n");
  expect_error(plan(), kBadFile, "R17's kernel of gemm takes (l, w, a, b, r)");
  expect_error(run_program({"run", kNetwork, "-i", "input:examples/r17/library.json"}), kBadFile,
               "unknown key 'sources'");
}

}  // namespace
}  // namespace morton::test
