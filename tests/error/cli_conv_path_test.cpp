// SPDX-License-Identifier: Apache-2.0
//
// --conv: a network by R18's paths, beside what R18 published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CliConvPath, BenchShowsEachLayerBesideWhatWasPublished) {
  const Outcome bench = run_program({"bench", "lenet5", "--batch", "3", "--conv", "naive", "-n",
                                     "1", "--warmup", "0ms", "--format", "json"});
  expect_success(bench);
  const json report = json::parse(bench.out).at("by_layer");
  EXPECT_EQ(report.at("input"), json({3, 1, 32, 32}));
  EXPECT_EQ(report.at("published_input"), json({100, 1, 32, 32}));
  const json& layers = report.at("layers");
  ASSERT_EQ(layers.size(), 8U);
  EXPECT_EQ(layers[0].at("layer"), "C1");
  EXPECT_EQ(layers[0].at("kernels"), json({"conv2d.r18_naive"}));
  EXPECT_EQ(layers[0].at("published_ms").at("CLBlast"), 721.14);
  EXPECT_GT(layers[0].at("wall_ms"), 0.0);
  EXPECT_FALSE(layers[6].contains("published_ms"));  // R18 stops at F6
}

TEST(CliConvPath, AKernelThatNoStepRunsIsNamed) {
  const auto bench = [](const std::string& use) {
    return run_program({"bench", "lenet5", "--use", use, "-n", "1", "--warmup", "0ms"});
  };
  const Outcome other = bench("attention=attention.naive");
  expect_success(other);
  EXPECT_THAT(other.err, HasSubstr("--use attention=attention.naive: no step runs that kernel"));
  EXPECT_THAT(bench("conv2d=naive").err, Not(HasSubstr("no step runs")));
}

TEST(CliConvPath, AStepOfTwoLayersStandsBesideTheSumOfBoth) {
  const Outcome bench = run_program({"bench", "lenet5", "--batch", "3", "--conv", "auto", "-n", "1",
                                     "--warmup", "0ms", "--format", "json"});
  expect_success(bench);
  double published = 0.0;
  std::string names;
  const json report = json::parse(bench.out);
  for (const json& layer : report.at("by_layer").at("layers")) {
    if (!layer.contains("published_ms")) continue;
    published += layer.at("published_ms").at("CLBlast").get<double>();
    names += layer.at("layer").get<std::string>() + "+";
  }
  EXPECT_EQ(names, "C1+S2+C3+S4+F5+F6+");
  EXPECT_NEAR(published, 3354.55, 1e-6);  // its total
}

TEST(CliConvPath, EveryPathComputesTheNetwork) {
  for (const char* path : {"naive", "nhwc", "vectorised", "morton", "auto"}) {
    SCOPED_TRACE(path);
    expect_success(run_program({"compare", "lenet5", "--batch", "3", "--conv", path}));
  }
}

TEST(CliConvPath, ClblastComputesTheNetwork) {
  for (const char* batch : {"1", "3"}) {
    if (*batch == '1' && !is_long_run()) continue;  // CLBlast builds for each size
    const Outcome outcome =
        run_program({"compare", "lenet5", "--batch", batch, "--conv", "clblast"});
    if (outcome.text().find("this build has no CLBlast") != std::string::npos) {
      GTEST_SKIP() << "this build has no CLBlast";
    }
    expect_success(outcome);
  }
}

TEST(CliConvPath, UnknownPathsAreListed) {
  expect_error(run_program({"plan", "lenet5", "--conv", "fft"}), kUsage,
               "auto, clblast, clblast-convgemm, naive, nhwc, vectorised, morton");
  expect_error(run_program({"bench", "lenet6", "--conv", "naive"}), kUsage, "lenet6");
}

}  // namespace
}  // namespace morton::test
