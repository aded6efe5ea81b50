// SPDX-License-Identifier: Apache-2.0
//
// A kernel that computes wrongly is found, said, refused and replaced.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/cache/tried_kernels.hpp"
#include "error/cli_program.hpp"
#include "morton/files.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

/// A product that leaves out the last term of a sum, and looks quicker than any other.
constexpr const char* kEntry = R"({
  "schema": 1, "name": "gemm.hasty", "problem": "gemm", "source": "hasty.cl", "function": "hasty",
  "operands": {
    "lhs": {"layout": "any", "types": ["f32"]},
    "rhs": {"layout": "any", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"]}
  },
  "edges": "guard", "arguments": ["M", "N", "K", "lhs", "rhs", "dst"],
  "global": ["N", "M"], "local": [1, 1], "epilogue": ["any"],
  "cost": {"flop": "2*M*N*K", "work": "1", "bytes": "4", "efficiency": {"cpu": 1.0, "gpu": 1.0}}
})";
constexpr const char* kSource = R"(// SPDX-License-Identifier: Apache-2.0
__kernel ATTRIBUTES void hasty(ARGUMENTS) {
  const int m = get_global_id(1);
  const int n = get_global_id(0);
  TYPE_acc sum = 0;
  for (int k = 0; k < K - 1; ++k) sum += LOAD_lhs(m, k) * LOAD_rhs(k, n);
  STORE_dst(m, n, EPILOGUE(sum, m, n));
}
)";

class CliSelfTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_bytes(folder_.path() / "hasty.json", kEntry);
    write_bytes(folder_.path() / "hasty.cl", kSource);
    onnx::ModelProto model = model_with_input({3, 17});
    add_weights(model, "w", {17, 7});
    add_node(model, "MatMul", {"x", "w"}, "y");
    model_ = save(model, folder_.path() / "product.onnx");
    write_input("x.npz", {3, 17});
  }
  void write_input(const std::string& name, const Shape& shape) const {
    NamedTensor input{"x", Tensor::allocate(DType::f32, shape)};
    for (std::int64_t i = 0; i < input.tensor.size(); ++i) {
      input.tensor.set(i, static_cast<double>(i * i % 7) - 3.0);
    }
    write_tensors(path(name), {&input, 1});
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Runs the product with the wrong kernel at hand.
  [[nodiscard]] Outcome run(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"run",         model_,        "-i",
                                   path("x.npz"), "--catalogue", path("hasty.json"),
                                   "--cache-dir", path("cache")};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  [[nodiscard]] Outcome cache(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"cache"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--cache-dir", path("cache")});
    return run_program(words);
  }
  void expect_same(const std::string& a, const std::string& b) const {
    const Tensor one = read_tensors(path(a)).front().tensor;
    const Tensor other = read_tensors(path(b)).front().tensor;
    ASSERT_EQ(one.shape(), other.shape());
    for (std::int64_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one.at(i), other.at(i), 1e-6) << i;
  }

  TemporaryFolder folder_;
  std::string model_;
};

TEST_F(CliSelfTest, AWrongKernelIsReplacedAndStaysSo) {
  expect_success(run({"--self-test", "off", "-o", path("wrong.npz")}));
  const Outcome first = run({"-o", path("first.npz")});
  expect_success(first);
  EXPECT_NE(first.err.find("gemm.hasty computes wrongly"), std::string::npos) << first.text();
  EXPECT_NE(first.err.find("another kernel takes its place"), std::string::npos) << first.text();
  const Outcome second = run({"-o", path("second.npz")});
  expect_success(second);
  EXPECT_NE(second.err.find("gemm.hasty is left out: "), std::string::npos) << second.text();
  EXPECT_EQ(second.err.find("computes wrongly"), std::string::npos) << second.text();
  EXPECT_NE(second.err.find("0 built"), std::string::npos) << second.text();
  expect_success(run_program(
      {"run", model_, "-i", path("x.npz"), "-o", path("right.npz"), "--cache-dir", path("other")}));
  expect_same("first.npz", "right.npz");
  expect_same("second.npz", "right.npz");
  const Tensor wrong = read_tensors(path("wrong.npz")).front().tensor;
  const Tensor right = read_tensors(path("right.npz")).front().tensor;
  EXPECT_NE(wrong.at(0), right.at(0)) << "the wrong kernel was not used without the self-test";
}

TEST_F(CliSelfTest, PlansAvoidItAndTheCacheShowsAndForgetsIt) {
  expect_success(run({}));
  const Outcome plan = run_program({"plan", model_, "--why", "--catalogue", path("hasty.json"),
                                    "--cache-dir", path("cache"), "--tuning", "none"});
  expect_success(plan);
  EXPECT_NE(plan.out.find("not gemm.hasty: "), std::string::npos) << plan.text();
  EXPECT_NE(plan.out.find("the self-test found it wrong: layer 'y'"), std::string::npos)
      << plan.text();
  const Outcome list = cache({"list"});
  expect_success(list);
  EXPECT_NE(list.out.find("1 refused"), std::string::npos) << list.text();
  EXPECT_NE(list.out.find("  refused: gemm.hasty: "), std::string::npos) << list.text();
  expect_success(cache({"clear", "self-test"}));
  const Outcome cleared = cache({"list"});
  EXPECT_EQ(cleared.out.find("self-test"), std::string::npos) << cleared.text();
  const Outcome again = run({});
  EXPECT_NE(again.err.find("gemm.hasty computes wrongly"), std::string::npos) << again.text();
}

TEST_F(CliSelfTest, StrictRefusesTheReplacement) {
  expect_error(run({"--strict"}), kBadFile, "gemm.hasty");
  // Of a later process too: what is refused is not what was asked for.
  expect_error(run({"--strict"}), kBadFile, "gemm.hasty");
}

TEST_F(CliSelfTest, StrictRefusesStepsOnTheHost) {
  const auto run_eigen = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", model_, "-i", path("x.npz"), "--use", "gemm=gemm.eigen"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  expect_success(run_eigen({}));
  expect_error(run_eigen({"--strict"}), kBadFile,
               "'node_y' is computed on the host, by gemm.eigen");
  const std::string ahead = path("ahead.morton");
  expect_success(run_program({"compile", model_, "-o", ahead, "--use", "gemm=gemm.eigen"}));
  expect_success(run_program({"run", ahead, "-i", path("x.npz")}));
  expect_error(run_program({"run", ahead, "-i", path("x.npz"), "--strict"}), kBadFile,
               "'node_y' is computed on the host, by gemm.eigen");
}

TEST_F(CliSelfTest, AWrongKernelThatIsAskedForIsAnError) {
  expect_error(run({"--use", "gemm=gemm.hasty"}), kDevice, "--self-test off");
}

TEST_F(CliSelfTest, ALayerWithoutNumbersClearsNoKernel) {
  // Roots of numbers of both signs make every sum of a row NaN; those of positive ones do not.
  onnx::ModelProto model = model_with_input({3, 17});
  add_weights(model, "w", {17, 7});
  add_node(model, "Sqrt", {"x"}, "root");
  add_node(model, "MatMul", {"root", "w"}, "y");
  model_ = save(model, folder_.path() / "roots.onnx");
  const Outcome outcome = run({});
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("gemm.hasty computes wrongly"), std::string::npos) << outcome.text();
  // Where nothing is a number the kernel is neither right nor wrong.
  onnx::ModelProto nothing = model_with_input({3, 17});
  add_weights(nothing, "w", {17, 7});
  add_node(nothing, "Neg", {"x"}, "minus");
  add_node(nothing, "Min", {"x", "minus"}, "below");
  add_node(nothing, "Sqrt", {"below"}, "root");
  add_node(nothing, "MatMul", {"root", "w"}, "y");
  model_ = save(nothing, folder_.path() / "nothing.onnx");
  expect_success(cache({"clear", "self-test"}));
  const Outcome undecided = run({"-v"});
  expect_success(undecided);
  EXPECT_NE(undecided.err.find(" undecided"), std::string::npos) << undecided.text();
  EXPECT_EQ(undecided.err.find(" 0 undecided"), std::string::npos) << undecided.text();
  // So the next model still finds it out.
  model_ = (folder_.path() / "product.onnx").string();
  const Outcome found = run({});
  EXPECT_NE(found.err.find("gemm.hasty computes wrongly"), std::string::npos) << found.text();
}

TEST_F(CliSelfTest, WhatIsRightIsTriedOnce) {
  for (const bool expected : {true, false}) {
    const Outcome outcome =
        run_program({"run", model_, "-i", path("x.npz"), "--cache-dir", path("cache"), "-v"});
    expect_success(outcome);
    const bool said = outcome.err.find("tried for the first time") != std::string::npos;
    EXPECT_EQ(said, expected) << outcome.text();
  }
}

TEST_F(CliSelfTest, DamagedFilesAreSaidAndReplaced) {
  expect_success(run({}));
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder_.path() / "cache" / "self_test")) {
    files.push_back(entry.path().string());
  }
  EXPECT_EQ(files.size(), 2U);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    write_bytes(file, "nonsense\n");
    const Outcome list = cache({"list"});
    expect_success(list);
    EXPECT_NE(list.out.find("damaged: " + file), std::string::npos) << list.text();
    const Outcome damaged = run({"-o", path("damaged.npz")});
    expect_success(damaged);
    EXPECT_NE(damaged.err.find(file), std::string::npos) << damaged.text();
    const Outcome mended = run({"-o", path("mended.npz")});
    EXPECT_EQ(mended.err.find(file), std::string::npos) << mended.text();
    EXPECT_NE(mended.err.find("gemm.hasty is left out: "), std::string::npos) << mended.text();
    expect_same("damaged.npz", "mended.npz");
  }
}

TEST_F(CliSelfTest, TheDoctorFindsWhatIsWrongWithAKernel) {
  std::vector<std::string> words{"doctor", "--cache-dir", path("cache"), "--catalogue",
                                 path("hasty.json")};
  const auto add_variant = [&](const std::string& name, const std::string& more) {
    std::string entry(kEntry), source(kSource);
    for (std::string* text : {&entry, &source}) {
      for (std::size_t at = 0; (at = text->find("hasty", at)) != std::string::npos;) {
        text->replace(at, 5, name);
      }
    }
    source.replace(source.find("K - 1"), 5, "K");
    source.insert(source.rfind('}'), more);
    write_bytes(path(name + ".json"), entry);
    write_bytes(path(name + ".cl"), source);
    words.push_back(path(name + ".json"));
  };
  add_variant("sound", "");
  add_variant("above", "  if (m == 0 && n == 0) STORE_dst(M, 0, 1);\n");
  add_variant("far", "  if (m == 0 && n == 0) STORE_dst(M + 100, 0, LOAD_lhs(M + 100, 0));\n");
  words.insert(words.end(), {"--kernels", "gemm.naive", "scatter.naive", "gemm.sound", "gemm.hasty",
                             "gemm.above", "gemm.far"});
  const Outcome doctor = run_program(words);
  EXPECT_EQ(doctor.status, 1) << doctor.text();
  const Outcome list = cache({"list"});
  for (const char* line :
       {"3 right, 3 wrong, 0 not for this device", "gemm.hasty, device 0:0: element 0 of dst is ",
        "gemm.above, device 0:0: 'dst': written above its memory",
        "gemm.far, device 0:0: the process that ran it was ended by signal 11"}) {
    EXPECT_NE(doctor.out.find(line), std::string::npos) << line << "\n" << doctor.text();
  }
  for (const char* name : {"hasty", "above", "far"}) {
    EXPECT_NE(list.out.find(std::string("refused: gemm.") + name), std::string::npos)
        << list.text();
  }
  expect_error(run_program({"doctor", "--kernels", "gemm.none"}), kUsage, "gemm.none");
}

/// A copy of the shipped kernels, one of them broken, and a model to run with it.
class CliBrokenKernel : public CliSelfTest {
 protected:
  void SetUp() override {
    CliSelfTest::SetUp();
    fs::copy(fs::path(MORTON_SOURCE_DIR) / "src" / "kernels", kernels(),
             fs::copy_options::recursive);
  }
  [[nodiscard]] fs::path kernels() const { return folder_.path() / "kernels"; }
  [[nodiscard]] Outcome run_copied(const std::string& command, const std::string& model,
                                   const std::vector<std::string>& more) const {
    std::vector<std::string> words{command, model, "--cache-dir", path("cache")};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, {{"MORTON_KERNEL_DIR", kernels().string()}});
  }
  /// The kernel of the first step.
  [[nodiscard]] std::string first_kernel(const std::string& model) const {
    const Outcome plan = run_copied("plan", model, {"--format", "json"});
    expect_success(plan);
    return nlohmann::json::parse(plan.out)["steps"][0]["kernel"];
  }
  /// Replaces text of the kernel's source wherever it stands.
  void break_kernel(const std::string& kernel, const std::string& from,
                    const std::string& to) const {
    const std::string source = source_of(kernel);
    ASSERT_FALSE(source.empty()) << kernel;
    std::string text = read_bytes(source);
    ASSERT_NE(text.find(from), std::string::npos) << source;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    write_bytes(source, text);
  }

 private:
  [[nodiscard]] std::string source_of(const std::string& kernel) const {
    for (const auto& entry : fs::recursive_directory_iterator(kernels())) {
      if (entry.path().extension() != ".json") continue;
      const auto description = nlohmann::json::parse(read_bytes(entry.path()));
      if (description.value("name", "") != kernel || !description.contains("source")) continue;
      return (entry.path().parent_path() / description["source"].get<std::string>()).string();
    }
    return "";
  }
};

TEST_F(CliBrokenKernel, IsReplaced) {
  onnx::ModelProto model = model_with_input({17, 63});
  add_node(model, "Softmax", {"x"}, "y");
  const std::string softmax = save(model, folder_.path() / "softmax.onnx");
  write_input("rows.npz", {17, 63});
  const auto run_softmax = [&](const std::string& output, const std::string& self_test) {
    return run_copied(
        "run", softmax,
        {"-i", path("rows.npz"), "-o", path(output), "--self-test", self_test, "--start", "ready"});
  };
  expect_success(run_softmax("right.npz", "off"));
  const std::string kernel = first_kernel(softmax);
  break_kernel(kernel, "exp(", "exp2(");
  const Outcome found = run_softmax("found.npz", "on");
  expect_success(found);
  EXPECT_NE(found.err.find(kernel + " computes wrongly on "), std::string::npos) << found.text();
  expect_same("found.npz", "right.npz");
  const Outcome later = run_softmax("later.npz", "on");
  expect_success(later);
  EXPECT_NE(later.err.find(kernel + " is left out: "), std::string::npos) << later.text();
  expect_same("later.npz", "right.npz");
}

TEST_F(CliBrokenKernel, IsToldFromThoseBesideIt) {
  onnx::ModelProto model = model_with_input({1, 6, 14, 14});
  add_weights(model, "w", {16, 6, 5, 5});
  add_node(model, "Conv", {"x", "w"}, "y");
  const std::string conv = save(model, folder_.path() / "conv.onnx");
  write_input("image.npz", {1, 6, 14, 14});
  const auto run_conv = [&](const std::string& output) {
    return run_copied(
        "run", conv,
        {"-i", path("image.npz"), "-o", path(output), "--use", "conv2d=conv2d.r18_nhwc"});
  };
  expect_success(run_conv("right.npz"));
  // Both ways of it: along lines, and by tables.
  break_kernel("pack.runs", "TAKE_src(NEST_PLACE_src(i))",
               "i > 0 ? TAKE_src(NEST_PLACE_src(i)) : (MOVED)0");
  break_kernel("pack.runs", "found ? value", "found && i > 0 ? value");
  const Outcome found = run_conv("found.npz");
  expect_success(found);
  expect_same("found.npz", "right.npz");
  EXPECT_NE(found.err.find("pack.runs computes wrongly on "), std::string::npos) << found.text();
  EXPECT_EQ(found.err.find("self-test: conv2d"), std::string::npos) << found.text();
  const Outcome list = cache({"list"});
  EXPECT_NE(list.out.find("1 refused"), std::string::npos) << list.text();
}

TEST(TriedKernels, AreOfOneDeviceAndDriver) {
  const TemporaryFolder folder;
  DeviceInfo device;
  device.name = "some device";
  device.driver.version = "1";
  DeviceInfo updated = device;
  updated.driver.version = "2";
  TriedKernels tried(folder.path(), device);
  tried.add(std::set<std::string>{"a", "b"});
  TriedKernels(folder.path(), device).add(std::set<std::string>{"c"});
  const TriedKernels again(folder.path(), device);
  for (const char* key : {"a", "b", "c"}) EXPECT_TRUE(again.contains(key)) << key;
  EXPECT_FALSE(TriedKernels(folder.path(), updated).contains("a"));
  // One that was read before the others wrote keeps what they have added.
  tried.add(std::set<std::string>{"d"});
  EXPECT_TRUE(TriedKernels(folder.path(), device).contains("c"));
}

/// Some drivers' compilers give up on texts that others build.
TEST_F(CliSelfTest, AKernelThatTheDriverDoesNotBuildIsReplacedAndStaysSo) {
  write_bytes(folder_.path() / "hasty.cl",
              "// SPDX-License-Identifier: Apache-2.0\n__kernel void hasty(nonsense x) {}\n");
  const Outcome first = run({"-o", path("first.npz")});
  expect_success(first);
  EXPECT_NE(first.err.find("the driver refuses gemm.hasty: "), std::string::npos) << first.text();
  EXPECT_NE(first.err.find("nonsense"), std::string::npos) << "the compiler's words";
  EXPECT_NE(first.err.find("another kernel takes its place"), std::string::npos) << first.text();
  const Outcome second = run({"-o", path("second.npz")});
  expect_success(second);
  EXPECT_NE(second.err.find("gemm.hasty is left out: "), std::string::npos) << second.text();
  EXPECT_NE(second.err.find("0 built"), std::string::npos) << second.text();
  expect_success(run_program(
      {"run", model_, "-i", path("x.npz"), "-o", path("right.npz"), "--cache-dir", path("other")}));
  expect_same("first.npz", "right.npz");
  expect_same("second.npz", "right.npz");
}

TEST_F(CliSelfTest, AKernelThatTheDriverDoesNotBuildIsAnErrorWhereItIsAskedFor) {
  write_bytes(folder_.path() / "hasty.cl",
              "// SPDX-License-Identifier: Apache-2.0\n__kernel void hasty(nonsense x) {}\n");
  expect_error(run({"--use", "gemm=gemm.hasty"}), kDevice, "does not compile");
  expect_error(run({"--strict"}), kBadFile, "the driver refuses gemm.hasty");
  expect_success(cache({"clear", "self-test"}));
  const Outcome again = run({});
  expect_success(again);
  EXPECT_NE(again.err.find("the driver refuses gemm.hasty: "), std::string::npos) << again.text();
}

}  // namespace
}  // namespace morton::test
