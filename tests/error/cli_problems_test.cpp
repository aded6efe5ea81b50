// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "catalogue/catalogue.hpp"
#include "error/cli_program.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using nlohmann::json;

std::vector<std::string> plus(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::vector<std::string> kOddProduct{"bench",    "gemm", "--m",      "17",  "--n",
                                           "3",        "--k",  "63",       "-n",  "2",
                                           "--warmup", "0ms",  "--format", "json"};

/// A kernel that leaves the last term of each sum out, beside the shipped ones.
std::string write_wrong_kernel(const std::filesystem::path& folder) {
  write_bytes(folder / "wrong.cl", R"(
__kernel ATTRIBUTES void wrong(ARGUMENTS) {
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k + 1 < K; ++k) sum += LOAD_lhs(m, k) * LOAD_rhs(k, n);
  STORE_dst(m, n, EPILOGUE(sum, m, n));
}
)");
  write_bytes(folder / "wrong.json", R"({
  "schema": 1, "name": "gemm.wrong", "problem": "gemm", "source": "wrong.cl", "function": "wrong",
  "operands": {
    "lhs": {"layout": "any", "types": ["f32"]},
    "rhs": {"layout": "any", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"]}
  },
  "edges": "guard",
  "arguments": ["K", "lhs", "rhs", "dst"],
  "global": ["N", "M"], "local": [1, 1],
  "epilogue": ["any"],
  "cost": {"flop": "2*M*N*K", "efficiency": {"cpu": 0.01, "gpu": 0.01}}
})");
  return (folder / "wrong.json").string();
}

TEST(CliProblems, OneKernelIsMeasured) {
  const Outcome outcome =
      run_program(plus(kOddProduct, {"--use", "gemm=gemm.rm_rm", "--local", "4x16"}));
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("problem").at("m"), 17);
  EXPECT_EQ(result.at("flop"), 2.0 * 17 * 3 * 63);
  EXPECT_GT(result.at("peak").at("gflops").get<double>(), 0.0);
  ASSERT_EQ(result.at("contenders").size(), 1U) << outcome.text();
  const json& contender = result.at("contenders").at(0);
  EXPECT_EQ(contender.at("name"), "gemm.rm_rm");
  EXPECT_EQ(contender.at("work_group"), "4x16");
  EXPECT_EQ(contender.at("operands").at("rhs"), "R");
  EXPECT_EQ(contender.at("samples"), 2);
  EXPECT_EQ(contender.at("clock"), "host");
  EXPECT_EQ(contender.at("ratio"), 1.0);
  EXPECT_GT(contender.at("median_ms").get<double>(), 0.0);
  EXPECT_LE(contender.at("min_ms").get<double>(), contender.at("median_ms").get<double>());
  // Nothing is packed, so the kernel alone is the call.
  EXPECT_EQ(contender.at("alone").at("median_ms"), contender.at("median_ms"));
  for (const char* key : {"iqr_ms", "gflops", "error", "device", "wait_ms"}) {
    EXPECT_TRUE(contender.contains(key)) << key;
  }
}

/// Two kernels; in a short run also four of five others, for each takes seconds to compile.
std::string kernels_to_exclude() {
  std::string names = "gemm.swapped,gemm.naive";
  if (is_long_run()) return names;
  static const std::set<std::string> kNamed{"gemm.naive", "gemm.tile", "gemm.rm_rm"};
  const Catalogue catalogue = Catalogue::standard();
  int others = 0;
  for (const Entry& entry : catalogue.entries()) {
    if (entry.family != families::gemm || kNamed.contains(entry.name)) continue;
    if (others++ % 5 != 0) names += "," + entry.name;
  }
  return names;
}

TEST(CliProblems, EveryKernelThatCanIsMeasuredAndTheOthersSayWhy) {
  const Outcome outcome =
      run_program(plus(kOddProduct, {"--all", "--trans-a", "--trans-b", "--local", "8x8",
                                     "--exclude", kernels_to_exclude()}));
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  EXPECT_TRUE(result.at("failed").empty()) << outcome.text();
  bool seen = false;
  for (const json& contender : result.at("contenders")) {
    EXPECT_NE(contender.at("name"), "gemm.naive");
    EXPECT_NE(contender.at("name"), "gemm.swapped");
    seen = seen || contender.at("name") == "gemm.tile";
  }
  EXPECT_TRUE(seen) << outcome.text();
  // Its LOCAL_N takes 1, 4 and 8 to 64: 8x8 is right, so it runs with that.
  for (const json& contender : result.at("contenders")) {
    if (contender.at("name") != "gemm.rm_rm") continue;
    EXPECT_EQ(contender.at("work_group"), "8x8");
  }
  for (const json& absent : result.at("rejected")) EXPECT_NE(absent.at("why"), "");
}

TEST(CliProblems, AWrongKernelHasNoFigures) {
  const TemporaryFolder folder;
  const std::string catalogue = write_wrong_kernel(folder.path());
  const Outcome outcome =
      run_program(plus(kOddProduct, {"--use", "gemm=gemm.wrong", "--catalogue", catalogue}));
  EXPECT_EQ(outcome.status, kCheckFailed) << outcome.text();
  const json result = json::parse(outcome.out);
  EXPECT_TRUE(result.at("contenders").empty());
  EXPECT_TRUE(result.at("checked").is_null());
  ASSERT_EQ(result.at("failed").size(), 1U);
  EXPECT_NE(result.at("failed").at(0).at("why").get<std::string>().find("dst["), std::string::npos);

  const Outcome sweep =
      run_program({"bench", "gemm", "--squares", "5", "--kernels", "wrong,rm_rm", "--catalogue",
                   catalogue, "-n", "1", "--warmup", "0ms", "--format", "jsonl"});
  EXPECT_EQ(sweep.status, kCheckFailed) << sweep.text();
  EXPECT_NE(sweep.out.find(R"("kernel":"gemm.wrong","verdict":"wrong","why":"wrong result: dst[)"),
            std::string::npos)
      << sweep.text();
  EXPECT_NE(sweep.out.find(R"("kernel":"gemm.rm_rm","verdict":"right")"), std::string::npos);

  const Outcome compared = run_program({"compare", "gemm", "--m", "3", "--n", "5", "--k", "17",
                                        "--use", "gemm=gemm.wrong", "--catalogue", catalogue});
  EXPECT_EQ(compared.status, kCheckFailed) << compared.text();
}

TEST(CliProblems, AModelWithoutInputsIsMeasured) {
  const TemporaryFolder folder;
  onnx::ModelProto model = model_with_input({2, 3});
  model.mutable_graph()->clear_input();
  add_weights(model, "w", {2, 3});
  add_node(model, "Relu", {"w"}, "y");
  const std::string path = save(model, folder.path() / "constant.onnx");
  expect_success(run_program({"bench", path, "-n", "1", "--warmup", "0ms"}));
}

/// A peer that is not installed is skipped; that its absence is said is tested elsewhere.
class CliPeers : public ::testing::TestWithParam<const char*> {};

TEST_P(CliPeers, AgreesOnEveryTransposition) {
  for (const std::vector<std::string>& transpositions :
       {std::vector<std::string>{}, {"--trans-a"}, {"--trans-b"}, {"--trans-a", "--trans-b"}}) {
    const Outcome outcome =
        run_program(plus(plus(kOddProduct, {"--peer", GetParam()}), transpositions));
    if (outcome.status == kUsage && outcome.err.find("does not load") != std::string::npos) {
      GTEST_SKIP() << GetParam() << " is not installed";
    }
    expect_success(outcome);
    const json result = json::parse(outcome.out);
    ASSERT_EQ(result.at("contenders").size(), 2U) << outcome.text();
    for (const json& contender : result.at("contenders")) {
      if (contender.at("kind") == "kernel") continue;
      EXPECT_EQ(contender.at("name"), GetParam());
      EXPECT_NE(contender.at("version"), "");
      EXPECT_EQ(contender.at("clock"), "host");
      EXPECT_GT(contender.at("ratio").get<double>(), 0.0);
      EXPECT_LT(contender.at("error").get<double>(), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Installed, CliPeers, ::testing::Values("clblast", "onednn", "openblas"),
                         [](const auto& peer) { return std::string(peer.param); });

TEST(CliProblems, OperandsRotateThroughMemory) {
  // A kernel so far from the peak that no other program's work makes it look too quick.
  const Outcome outcome =
      run_program({"bench", "gemm", "--m", "65", "--n", "130", "--k", "257", "--use",
                   "gemm=gemm.rm_cm", "--buffers", "rotate", "-n", "1", "--format", "json"});
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  // rhs is packed, so both columns differ in what they do.
  EXPECT_FALSE(result.at("contenders").at(0).at("alone").is_null());
  // One set of operands in a row, as the device's clock is read, would be warm.
  EXPECT_TRUE(result.at("contenders").at(0).at("device").is_null());
  EXPECT_NE(result.at("buffers").get<std::string>().find("rotating"), std::string::npos);
  EXPECT_GE(result.at("footprint_bytes").get<double>(), 2.0 * result.at("bytes").get<double>());
  EXPECT_EQ(result.at("contenders").size(), 1U);
}

TEST(CliProblems, OptionsThatChangeNothingAreSaid) {
  const Outcome outcome =
      run_program(plus(kOddProduct, {"--use", "gemm=gemm.tile_unpacked", "--precision", "bf16"}));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("--precision bf16"), std::string::npos) << outcome.text();
}

TEST(CliProblems, TheHostMultipliesByName) {
  for (const char* size : {"1", "3", "17", "63", "100"}) {
    SCOPED_TRACE(size);
    const Outcome outcome =
        run_program({"bench", "gemm", "--m", size, "--n", size, "--k", size, "-n", "1", "--warmup",
                     "0ms", "--format", "json", "--use", "gemm=gemm.eigen"});
    if (outcome.err.find("device.unified_memory") != std::string::npos) {
      GTEST_SKIP() << "the device has memory of its own";
    }
    expect_success(outcome);
    const json result = json::parse(outcome.out);
    EXPECT_TRUE(result.at("failed").empty()) << outcome.text();
    const json& contender = result.at("contenders").at(0);
    EXPECT_EQ(contender.at("name"), "gemm.eigen");
    EXPECT_TRUE(contender.at("device").is_null()) << "the device computes nothing";
  }
}

TEST(CliProblems, TunedParametersOfCLBlastAreRead) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "clblast.json").string();
  write_bytes(path, R"({"Xgemm": 3})");
  const Outcome outcome =
      run_program(plus(kOddProduct, {"--peer", "clblast", "--clblast-parameters", path}));
  if (outcome.err.find("does not load") != std::string::npos) {
    GTEST_SKIP() << "clblast is not installed";
  }
  constexpr int kModelFile = 3;
  expect_error(outcome, kModelFile, "bench/clblast_tune.py");
}

TEST(CliProblems, ProductsOfAllTranspositionsAgreeWithEigen) {
  for (const char* size : {"1", "17"}) {
    const Outcome outcome = run_program({"compare", "gemm", "--m", "63", "--n", size, "--k", "100",
                                         "--all-transpositions", "--format", "json"});
    expect_success(outcome);
    const json result = json::parse(outcome.out);
    ASSERT_EQ(result.at("outcomes").size(), 4U);
    for (const json& one : result.at("outcomes")) {
      EXPECT_EQ(one.at("errors_above_1"), 0);
      EXPECT_EQ(one.at("outside_bound"), 0);
      EXPECT_LT(one.at("mean_error").get<double>(), 1e-3);
    }
  }
}

TEST(CliProblems, WorkGroupsThatNoKernelTakes) {
  const std::vector<std::string> plan{"plan", kLenet, "--local"};
  expect_error(run_program(plus(plan, {"3x5"})), kUsage, "near it: 2x4, 4x4");
  expect_error(run_program(plus(plan, {"0x4"})), kUsage, "4x16");
  expect_error(run_program(plus(plan, {"1x1x1x1"})), kUsage, "4x16");
  expect_error(run_program(plus(plan, {"four"})), kUsage, "--local four");
  expect_error(run_program(plus(kOddProduct, {"--use", "gemm=gemm.rm_rm", "--local", "3x16"})),
               kUsage, "near it: 2x16, 4x16");
}

TEST(CliProblems, TheWorkGroupIsSetOrSaidToBeFixed) {
  const Outcome set = run_program({"plan", kLenet, "--why", "--use", "gemm=gemm.rm_rm", "--exclude",
                                   "gemm.swapped", "--local", "8x8"});
  expect_success(set);
  EXPECT_NE(set.out.find("local 8x8"), std::string::npos) << set.text();
  const Outcome fixed =
      run_program({"plan", kLenet, "--why", "--use", "gemm=gemm.morton_4_2", "--local", "8x8"});
  expect_success(fixed);
  EXPECT_NE(fixed.out.find("--local 8x8 does not apply: its work-group is fixed"),
            std::string::npos)
      << fixed.text();
}

TEST(CliProblems, TheSameAnswersWithOtherKernelsAndWorkGroups) {
  const TemporaryFolder folder;
  for (const char* local : {"1x1", "4x16", "16x4"}) {
    const Outcome outcome =
        run_program({"run", kLenet, "-i", kDigit, "--use", "gemm=gemm.rm_cm", "--exclude",
                     "gemm.swapped", "--local", local, "--top-k", "1", "--format", "json"});
    expect_success(outcome);
    EXPECT_EQ(json::parse(outcome.out).at("outputs").at(0).at("top").at(0).at(0).at("index"), 7);
  }
}

TEST(CliProblems, WrongCommandLines) {
  struct Case {
    std::vector<std::string> arguments;
    const char* part;
  };
  const std::vector<Case> cases{
      {{"bench"}, "MODEL"},
      {{"bench", "gemm", "--m", "3", "--n", "3"}, "--k"},
      {{"bench", "gemm", "--m", "0", "--n", "3", "--k", "3"}, "1 or more, got '0'"},
      {{"bench", "gemm", "--m", "3", "--n", "3", "--k", "x"}, "1 or more, got 'x'"},
      {plus(kOddProduct, {"--use", "gemm=gemm.of_nobody"}), "gemm.rm_rm"},
      {plus(kOddProduct, {"--exclude", "gemm.of_nobody"}), "gemm.of_nobody"},
      {plus(kOddProduct, {"--peer", "of_nobody"}), "openblas"},
      {plus(kOddProduct, {"--peer", "openblas", "--peer-folder", "/nowhere"}),
       "libopenblas0-pthread"},
      {plus(kOddProduct, {"--peer", "onednn", "--peer-folder", "/nowhere"}), "libdnnl2"},
      {plus(kOddProduct, {"--peer", "clblast", "--peer-folder", "/nowhere"}), "libclblast1"},
      {plus(kOddProduct, {"--peer", "cublas", "--peer-folder", "/nowhere"}), "CUDA 12 or 13"},
      {plus(kOddProduct, {"--buffers", "cold"}), "warm or rotate"},
      {{"bench", "tanh"}, "gemm, bias, sigmoid, relu"},
      {{"compare"}, "MODEL or gemm is required"},
      {{"compare", "gemm", "--m", "3"}, "--n"},
  };
  for (const Case& wrong : cases) {
    std::string line = "morton";
    for (const std::string& word : wrong.arguments) line += " " + word;
    SCOPED_TRACE(line);
    expect_error(run_program(wrong.arguments), kUsage, wrong.part);
  }
}

}  // namespace
}  // namespace morton::test
