// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "error/cli_program.hpp"
#include "morton/files.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

TEST(CliUsage, EveryCommandExplainsItself) {
  for (const char* command : {"demo", "devices", "doctor", "inspect", "plan", "run", "bench",
                              "compare", "probe", "profile", "kernel"}) {
    SCOPED_TRACE(command);
    const Outcome outcome = run_program({command, "--help"});
    expect_success(outcome);
    EXPECT_NE(outcome.out.find("Examples:"), std::string::npos) << outcome.text();
    EXPECT_EQ(outcome.err, "");
  }
  expect_success(run_program({"--help"}));
  EXPECT_TRUE(run_program({"--version"}).out.starts_with("morton "));
}

TEST(CliUsage, WrongCommandLines) {
  struct Case {
    std::vector<std::string> arguments;
    const char* part;
  };
  const std::vector<Case> cases{
      {{}, "morton --help"},
      {{"frobnicate"}, "frobnicate"},
      {{"--frobnicate"}, "frobnicate"},
      {{"run"}, "model"},
      {{"run", kLenet, "--frobnicate"}, "--frobnicate"},
      {{"run", kLenet, "another.onnx", "-i", kDigit}, "another.onnx"},
      {{"run", kLenet, "-i", kDigit, "--top-k", "0"},
       "--top-k: expected a whole number of 1 or more"},
      {{"run", kLenet, "-i", kDigit, "--format", "xml"}, "xml"},
      {{"run", kLenet, "-i", kDigit, "--batch", "many"}, "1 or more, got 'many'"},
      {{"run", kLenet, "-i", kDigit, "--use", "gemm"}, "FAMILY=ENTRY"},
      {{"run", kLenet, "-i", kDigit, "--use", "gemm=a,gemm=b"}, "twice"},
      {{"run", kLenet, "-i", kDigit, "--shape", "input"}, "NAME:EXTENTS"},
      {{"run", kLenet, "-i", kDigit, "--shape", "input:1x-3"}, "1x-3"},
      {{"run", kLenet, "-i", kDigit, "--shape", "input:1xx3"}, "1xx3"},
      {{"bench", kLenet, "-n", "0"}, "iterations"},
      {{"bench", kLenet, "-n", "1", "--duration", "5parsecs"}, "5parsecs"},
      {{"bench", kLenet, "-n", "1", "--warmup", "-1s"}, "-1s"},
      {{"plan", kLenet, "--device-info"}, "--device-info"},
      {{"cache", "clear", "nope"}, "`morton cache clear --help`"},
      {{"plan", kLenet, "--use", "gemm=til"}, "near it: gemm.tile (`morton kernel` lists"},
      {{"plan", kLenet, "--use", "gemm=gemm.tyle"}, "near it: gemm.tile"},
      {{"plan", kLenet, "--use", "gem=naive"}, "near it: gemm"},
      {{"plan", kLenet, "--exclude", "gemm.tyle"}, "near it: gemm.tile"},
      {{"plan", kLenet, "--set", "gemm.tyle:TILE_M=8"}, "near it: gemm.tile"},
      {{"plan", kLenet, "--local", "3"},
       "takes this work-group; near it: 2, 4, 1 (`morton kernel`"},
      {{"train", "lenet5", "--data", "data/mnist", "-d", "0:0,0:0"}, "takes one device"},
      {{"layout", "R_2_4_Q", "8x8"}, "R_2_4_Q"},
      {{"layout", "R", "8"}, "expected 2 extents, got 1"},
      {{"layout", "R", "65x65", "--svg", "x.svg"}, "at most 64 rows and columns"},
      {{"layout", "NCHW", "1x2x3x4", "--svg", "x.svg"}, "a picture is of a matrix"},
      {{"layout", "R", "--product", "C", "--group", "4"}, "expected two extents"},
      {{"train", "c18-mlp", "--data", "data/mnist", "--precision", "f16", "--sums", "f16"},
       "sums stay in f32"},
      {{"plan", kLenet, "--sums", "f16"}, "--sums f16 goes with --precision f16"},
  };
  for (const Case& wrong : cases) {
    std::string line = "morton";
    for (const std::string& word : wrong.arguments) line += " " + word;
    SCOPED_TRACE(line);
    expect_error(run_program(wrong.arguments), kUsage, wrong.part);
  }
}

TEST(CliUsage, InputsThatTheModelDoesNotHave) {
  for (const char* input : {"nothing:examples/data/digit_7.png", "input:", ":x.png"}) {
    SCOPED_TRACE(input);
    expect_error(run_program({"run", kLenet, "-i", input}), kUsage, "batchx1x32x32");
  }
  expect_error(run_program({"run", kLenet}), kUsage, "batchx1x32x32");
}

TEST(CliUsage, AnArchiveWithoutTheInput) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "two.npz").string();
  const std::vector<NamedTensor> tensors{{"a", Tensor::allocate(DType::f32, {1, 1, 32, 32})},
                                         {"b", Tensor::allocate(DType::f32, {1, 1, 32, 32})}};
  write_tensors(path, tensors);
  expect_error(run_program({"run", kLenet, "-i", "input:" + path}), kUsage, "a  f32");
  expect_error(run_program({"run", kLenet, "-i", path}), kUsage, "batchx1x32x32");
}

TEST(CliUsage, ShapesThatDoNotFit) {
  const TemporaryFolder folder;
  for (const Shape& shape : {Shape{1, 1, 16, 16}, Shape{1, 32, 32}, Shape{1, 3, 32, 32}}) {
    const std::string path = (folder.path() / "x.npy").string();
    const std::vector<NamedTensor> tensors{{"", Tensor::allocate(DType::f32, shape)}};
    write_tensors(path, tensors);
    expect_error(run_program({"run", kLenet, "-i", "input:" + path}), kUsage, "batchx1x32x32");
  }
}

TEST(CliUsage, NoSuchDevice) {
  expect_error(run_program({"plan", kLenet, "--device", "no such device"}), kUsage,
               "no such device");
  expect_error(run_program({"plan", kLenet, "--device", "99:99"}), kUsage, "99:99");
  expect_error(run_program({"plan", kLenet}, {{"MORTON_DEVICE", "banana"}}), kUsage,
               "MORTON_DEVICE=banana");
  expect_error(run_program({"plan", kLenet, "--device", "banana", "--device-info",
                            "tests/devices/mali_t628.json"}),
               kUsage, "banana");
}

TEST(CliUsage, InputsAreRefusedBeforeAnythingIsBuilt) {
  // No device could be opened here, so the complaints come before that.
  const TemporaryFolder folder;
  const std::map<std::string, std::string> none{{"OCL_ICD_VENDORS", folder.path().string()}};
  const std::string labels = (folder.path() / "labels.txt").string();
  write_bytes(labels, "zero\none\n");
  expect_error(run_program({"run", kLenet, "-i", kDigit, "--labels", labels}, none), kBadFile,
               "2 labels");
  const std::string wrong_type = (folder.path() / "x.npy").string();
  const std::vector<NamedTensor> image{{"", Tensor::allocate(DType::f32, {1, 1, 99, 99})}};
  write_tensors(wrong_type, image);
  expect_error(run_program({"run", kLenet, "-i", wrong_type}, none), kUsage, "batchx1x32x32");
}

TEST(CliUsage, PlansAsJson) {
  const Outcome outcome = run_program({"plan", kLenet, "--format", "json"});
  expect_success(outcome);
  EXPECT_TRUE(outcome.out.starts_with("{")) << outcome.text();
  EXPECT_NE(outcome.out.find("\"estimated_us\""), std::string::npos);
}

TEST(CliUsage, OpenShapesHaveTheirNamesInPictures) {
  const Outcome outcome = run_program({"inspect", kLenet, "--dot"});
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("input batchx1x32x32"), std::string::npos) << outcome.text();
  EXPECT_EQ(outcome.out.find("scalar"), std::string::npos) << outcome.text();
}

TEST(CliUsage, NoSuchKernel) {
  expect_error(run_program({"plan", kLenet, "--use", "gemm=gemm.of_nobody"}), kUsage,
               "gemm.of_nobody");
  expect_error(run_program({"plan", kLenet, "--use", "gemm=of_nobody"}), kUsage, "`morton kernel`");
  expect_error(run_program({"plan", kLenet, "--use", "cooking=gemm.naive"}), kUsage, "cooking");
  expect_error(run_program({"plan", kLenet, "--use", "cooking=naive"}), kUsage, "`morton kernel`");
}

TEST(CliUsage, PartsOfCommandsThatAreNotThere) {
  expect_error(run_program({"cache", "cook"}), kUsage, "list, clear, export, import, got 'cook'");
  expect_error(run_program({"cache"}), kUsage, "list, clear, export, import");
  expect_error(run_program({"compare", "bread"}), kUsage, "bread: no file has this name");
  expect_error(run_program({"compare", kLenet, "--rtol", "1e-3"}), kUsage, "what --ref brings");
}

TEST(CliUsage, AFileOfAnotherShapeIsRefusedBeforeAnythingIsBuilt) {
  const Outcome outcome = run_program({"run", kLenet, "-i", kDigit, "--batch", "3"});
  expect_error(outcome, kUsage, "the model is to run at 3x1x32x32");
  EXPECT_EQ(outcome.err.find("kernels:"), std::string::npos) << outcome.text();
}

TEST(CliUsage, WeightsOfASingleDevice) {
  for (const char* command : {"plan", "bench"}) {
    expect_error(run_program({command, kLenet, "--weights", "2:1"}), kUsage, "one device");
  }
  expect_error(run_program({"run", kLenet, "-i", kDigit, "--weights", "2:1"}), kUsage,
               "one device");
}

TEST(CliUsage, ResultsThatCannotBeWritten) {
  expect_error(run_program({"run", kLenet, "-i", kDigit, "-o", "x.txt"}), kUsage, ".npz");
  expect_error(run_program({"inspect", kLenet, "-o", "no/such/folder/x.txt"}), kUsage,
               "no/such/folder/x.txt");
}

TEST(CliUsage, DescriptionsOfDevices) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "device.json").string();
  expect_error(run_program({"plan", kLenet, "--device-info", path}), kBadFile, path);
  for (const char* text : {"", "{", "[]", "[3]", "\"text\"", "{\"id\": \"0:0\"}"}) {
    SCOPED_TRACE(text);
    write_bytes(path, text);
    expect_error(run_program({"plan", kLenet, "--device-info", path}), kBadFile, "");
  }
}

}  // namespace
}  // namespace morton::test
