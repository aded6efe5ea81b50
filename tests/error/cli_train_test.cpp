// SPDX-License-Identifier: Apache-2.0
//
// `morton train` and `morton eval` where something is wrong, stopped, or killed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <morton/pictures.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "error/cli_program.hpp"
#include "formats/arrays/npy.hpp"
#include "support/child_process.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

class CliTrain : public ::testing::Test {
 protected:
  /// 63 pictures of 28x28 for training, and 17 for testing, whose label is the brightest row.
  void SetUp() override {
    write_npz(data_, {{{"x_train", pictures(63)},
                       {"y_train", labels(63)},
                       {"x_test", pictures(17)},
                       {"y_test", labels(17)}}});
  }

  [[nodiscard]] static Tensor pictures(std::int64_t count) {
    Tensor tensor = Tensor::allocate(DType::u8, {count, 28, 28});
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const std::int64_t row = i / 28 % 28;
      tensor.set(i, row == i / 784 % 10 * 2 ? 255.0 : static_cast<double>(i % 17));
    }
    return tensor;
  }
  [[nodiscard]] static Tensor labels(std::int64_t count) {
    Tensor tensor = Tensor::allocate(DType::i64, {count});
    for (std::int64_t i = 0; i < count; ++i) tensor.set(i, static_cast<double>(i % 10));
    return tensor;
  }
  [[nodiscard]] std::vector<std::string> arguments(const std::string& out,
                                                   const std::vector<std::string>& more) const {
    std::vector<std::string> all{"train", "c18-mlp"};
    const std::vector<std::pair<std::string, std::string>> standard{
        {"--data", data_.string()}, {"--batch", "7"}, {"--epochs", "4"}, {"--lr", "0.0001"},
        {"--device", "cpu"},        {"--seed", "3"},  {"--out", at(out)}};
    for (const auto& [name, value] : standard) {
      if (std::find(more.begin(), more.end(), name) != more.end()) continue;
      all.insert(all.end(), {name, value});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Outcome train(const std::string& out,
                              const std::vector<std::string>& more = {}) const {
    return run_program(arguments(out, more));
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// The lines of log.csv without the two columns that tell of time.
  [[nodiscard]] std::vector<std::string> logged(const std::string& out) const {
    std::istringstream lines(read_bytes(folder_.path() / out / "log.csv"));
    std::vector<std::string> kept;
    for (std::string line; std::getline(lines, line);) {
      for (int i = 0; i < 2; ++i) line.resize(line.rfind(','));
      kept.push_back(line);
    }
    return kept;
  }

  /// Starts a training, or goes on with it, and kills it after a while; false when it had ended.
  [[nodiscard]] bool start_and_kill(const std::string& out, std::mt19937& random) const {
    std::vector<std::string> words = arguments(out, in_parts_);
    words.insert(words.begin(), MORTON_PROGRAM);
    std::vector<std::string> environment = environment_with({{"MORTON_SLOW_WRITES", "2"}});
    pid_t child = 0;
    EXPECT_EQ(::posix_spawn(&child, MORTON_PROGRAM, nullptr, nullptr, pointers_of(words).data(),
                            pointers_of(environment).data()),
              0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random() % 1200));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "status " << status;
    return WIFSIGNALED(status);
  }

  /// A model with the input x, [N, 784], N being open.
  [[nodiscard]] static onnx::ModelProto network_of_pictures() {
    onnx::ModelProto model = model_with_input({1, 784});
    model.mutable_opset_import(0)->set_version(15);
    model.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param("batch");
    return model;
  }

  const std::vector<std::string> in_parts_{"--resume", "--checkpoint-every", "2"};
  TemporaryFolder folder_;
  std::filesystem::path data_ = folder_.path() / "data.npz";
};

TEST_F(CliTrain, WhatIsWrongIsSaidOnce) {
  const auto wrong = [&](const std::vector<std::string>& more) { return train("out", more); };
  expect_error(wrong({"--schedule", "cosinus"}), kUsage, "constant, step, cosine or plateau");
  expect_error(wrong({"--augment", "turn=5"}), kUsage, "crop=MARGIN, rotate=DEGREES");
  expect_error(wrong({"--augment", "rotate=200"}), kUsage, "at most 180 degrees");
  expect_error(wrong({"--optimizer", "sdg"}), kUsage, "sgd, adam, adamw, rmsprop; got 'sdg'");
  expect_error(wrong({"--loss", "cross"}), kUsage, "softmax-cross-entropy, binary-");
  expect_error(run_program({"train", "lenet6", "--data", at("data.npz")}), kUsage, "lenet5");
  expect_error(wrong({"--nesterov"}), kUsage, "--optimizer sgd");
  expect_error(wrong({"--nesterov", "--optimizer", "sgd"}), kUsage, "and --momentum");
  expect_error(wrong({"--momentum", "0.9"}), kUsage, "--optimizer sgd");
  expect_error(wrong({"--steps", "2"}), kUsage, "--epochs");
  expect_error(wrong({"--epochs", "1", "--accumulate", "0"}), kUsage, "--accumulate");
  expect_error(wrong({"--epochs", "1", "--accumulate", "10"}), kUsage, "takes 10 steps");
  expect_error(wrong({"--mean", "0.5,0.5"}), kUsage, "mean: expected one number");
  expect_error(wrong({"--out", data_.string() + "/out"}), kUsage, "cannot be created");
  expect_error(wrong({"--validation", "1.5"}), kUsage, "above 0 and below 1");
  expect_error(wrong({"--resume", "--restart"}), kUsage, "give one of them");
  expect_error(wrong({"--freeze", "nothing*"}), kUsage,
               "--freeze: no parameter is named 'nothing*'");
  expect_error(wrong({"--lr", "abc"}), kUsage, "--lr: expected a number, got 'abc'");
  expect_error(wrong({"--lr", "0"}), kUsage,
               "--lr: expected a number above 0 that f32 can hold, got 0");
  expect_error(wrong({"--weight-decay", "-1"}), kUsage,
               "--weight-decay: expected a number of 0 or more, got -1");
  expect_error(wrong({"--optimizer", "sgd", "--momentum", "1"}), kUsage,
               "--momentum: expected a number of 0 or more, and below 1, got 1");
  expect_error(wrong({"--clip", "0"}), kUsage, "--clip: expected a length above 0, got 0");
  expect_error(run_program({"train", "lenet5", "--data", at("nowhere")}), kBadFile,
               "no such file or folder of data");
  Tensor far = labels(63);
  far.set(5, 11.0);
  write_npz(data_, {{{"x", pictures(63)}, {"y", far}}});
  expect_error(wrong({}), kBadFile, "example 5 has the label 11; expected 0 to 9");
  write_npz(data_, {{{"x", pictures(63)}, {"y", labels(63)}}});
  expect_error(wrong({"--patience", "2"}), kUsage, "--patience looks at validation data");
  expect_error(wrong({"--test-every", "2"}), kUsage, "--validation 0.1");
  write_npz(data_, {{{"x", pictures(63)}, {"y", labels(63).converted(DType::f32)}}});
  expect_error(wrong({}), kUsage, "labels, which are integers");
  write_npz(data_, {{{"images", pictures(63)}, {"labels", labels(63)}}});
  expect_error(wrong({}), kBadFile, "holds images, labels; expected x and y");
  write_npz(data_, {{{"x", pictures(5)}, {"y", labels(5)}}});
  expect_error(wrong({}), kUsage,
               "5 examples for training are fewer than a batch of 7; --batch 5 takes all");
  expect_error(run_program({"eval", "c18-mlp", "--data", at("data.npz"), "-d", "cpu"}), kUsage,
               "has no test part (as an .npz archive with x and y, or x_train, y_train, x_test and "
               "y_test); `morton eval --part train` shows the training examples, `morton train "
               "--validation` holds some of them back");
  EXPECT_FALSE(std::filesystem::exists(at("out")));
}

TEST_F(CliTrain, ShowsThePlanOfAStep) {
  const Outcome outcome = train("out", {"--plan"});
  EXPECT_EQ(outcome.status, 0) << outcome.text();
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("/gradient/"));
  EXPECT_FALSE(std::filesystem::exists(at("out")));
  // Nothing is written, so what lies there is in nobody's way.
  std::filesystem::create_directory(at("out"));
  write_bytes(at("out/model.onnx"), "a model");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--plan"}, {"--plan", "--resume"}, {"--plan", "--restart"}}) {
    const Outcome again = train("out", more);
    expect_success(again);
    EXPECT_EQ(again.out, outcome.out);
  }
  EXPECT_EQ(read_bytes(at("out/model.onnx")), "a model");
  expect_error(train("out", {"--plan", "--format", "json"}), kUsage, "--plan: shows the plan");
}

TEST_F(CliTrain, SaysWhyThePlanIsSo) {
  const Outcome outcome = train("out", {"--plan", "--why"});
  expect_success(outcome);
  EXPECT_THAT(outcome.out, ::testing::AllOf(::testing::HasSubstr("\n      why: "),
                                            ::testing::HasSubstr("considered, with the"),
                                            ::testing::HasSubstr("one launch in place of ")));
  const Outcome apart = train("out", {"--plan", "--why", "--launches", "apart"});
  expect_success(apart);
  EXPECT_THAT(apart.out, ::testing::Not(::testing::HasSubstr("one launch in place of ")));
  EXPECT_THAT(train("out", {"--plan"}).out, ::testing::Not(::testing::HasSubstr("why: ")));
  EXPECT_FALSE(std::filesystem::exists(at("out")));
  expect_error(train("out", {"--why"}), kUsage, "--why: give it with --plan");
}

TEST_F(CliTrain, SaysWhereNothingShowsHowWellItLearns) {
  write_npz(data_, {{{"x", pictures(63)}, {"y", labels(63)}}});
  const Outcome without = train("without", {"--epochs", "1"});
  expect_success(without);
  EXPECT_THAT(without.err, ::testing::HasSubstr("63 examples for training, 0 for validation (no "
                                                "test part; --validation 0.1 holds some back)"));
  const Outcome with = train("with", {"--epochs", "1", "--validation", "0.1"});
  expect_success(with);
  EXPECT_THAT(with.err, ::testing::HasSubstr("6 for validation\n"));
}

/// The names of the data's folders; numbers of the classes that the data have not.
TEST_F(CliTrain, NamesOfClassesLieBesideTheModel) {
  for (const char* name : {"crow", "dove"}) {
    std::filesystem::create_directories(folder_.path() / "birds" / name);
    for (const char* digit : {"digit_1.png", "digit_7.png"}) {
      std::filesystem::copy(std::filesystem::path(MORTON_SOURCE_DIR) / "examples" / "data" / digit,
                            folder_.path() / "birds" / name / digit);
    }
  }
  std::vector<std::string> words = arguments(
      "out", {"--data", at("birds"), "--resize", "28x28", "--epochs", "1", "--batch", "2"});
  words[1] = "c18-cnn";
  const Outcome learned = run_program(words);
  expect_success(learned);
  EXPECT_THAT(learned.out, ::testing::HasSubstr("out/labels.txt"));
  EXPECT_EQ(read_bytes(at("out/labels.txt")), "crow\ndove\n2\n3\n4\n5\n6\n7\n8\n9\n");
  const Outcome answer = run_program({"run", at("out/model.onnx"), "-i", kDigit, "--resize",
                                      "28x28", "--labels", at("out/labels.txt"), "--top-k", "10"});
  expect_success(answer);
  EXPECT_THAT(answer.out, ::testing::HasSubstr("dove"));
  EXPECT_THAT(learned.err, ::testing::HasSubstr("--classes 2 gives it a last layer for these"));
  // A last layer for the two, and no names but theirs.
  words.insert(words.end(), {"--classes", "2", "--restart"});
  const Outcome again = run_program(words);
  expect_success(again);
  EXPECT_EQ(read_bytes(at("out/labels.txt")), "crow\ndove\n");
}

TEST_F(CliTrain, SaysWhereColoursAreLost) {
  for (const char* name : {"red", "blue"}) {
    std::filesystem::create_directories(folder_.path() / "colours" / name);
    Tensor picture = Tensor::allocate(DType::u8, {28, 28, 3});
    std::ranges::fill(picture.as_mutable<std::uint8_t>(), std::uint8_t{90});
    picture.as_mutable<std::uint8_t>().back() = 200;
    write_picture(at(std::string("colours/") + name + "/one.png"), picture);
  }
  std::vector<std::string> words = arguments(
      "out", {"--data", at("colours"), "--resize", "28x28", "--epochs", "1", "--batch", "2"});
  words[1] = "c18-cnn";
  const Outcome learned = run_program(words);
  expect_success(learned);
  EXPECT_THAT(learned.err, ::testing::HasSubstr("2 pictures have colours, and the network sees "
                                                "them in grey: its input 'input' has one channel"));
}

/// A file does not tell what was learned; of a network that Morton makes it is known.
TEST_F(CliTrain, DoubtsAreOfFiles) {
  using ::testing::HasSubstr;
  onnx::ModelProto model = network_of_pictures();
  add_weights(model, "weights", {784, 10});
  add_weights(model, "scale", {10});
  add_weights(model, "factor", {1});
  add_node(model, "MatMul", {"x", "weights"}, "product");
  add_node(model, "Mul", {"product", "scale"}, "scaled");
  add_node(model, "Mul", {"scaled", "factor"}, "y");
  std::vector<std::string> words = arguments("out", {"--epochs", "1"});
  words[1] = save(model, at("model.onnx"));
  const Outcome of_file = run_program(words);
  expect_success(of_file);
  EXPECT_THAT(of_file.err, HasSubstr("trained too, as a file does not tell learned scales from "
                                     "fixed ones: scale (--freeze leaves them as they are)"));
  EXPECT_THAT(of_file.err, HasSubstr("single numbers stay as they are: factor\n"));
  // The same network by its name and as a file.
  const std::string lenet = at("lenet5.onnx");
  expect_success(run_program({"new", "lenet5", "-o", lenet}));
  for (const std::string& name : {std::string("lenet5"), lenet}) {
    std::vector<std::string> more = arguments("lenet", {"--epochs", "1", "--restart"});
    more[1] = name;
    const Outcome outcome = run_program(more);
    expect_success(outcome);
    const auto doubts = HasSubstr("trained too, as a file does not tell");
    if (name == lenet) {
      EXPECT_THAT(outcome.err, doubts);
    } else {
      EXPECT_THAT(outcome.err, ::testing::Not(doubts));
    }
  }
}

/// R17's networks have an example in each column.
TEST_F(CliTrain, TrainsAndEvaluatesNetworksWithTheBatchLast) {
  std::vector<std::string> words = arguments("columns", {"--lr", "0.01", "--epochs", "8"});
  words[1] = "r17-digits";
  expect_success(run_program(words));
  const Outcome inspected = run_program({"inspect", at("columns/model.onnx")});
  expect_success(inspected);
  EXPECT_THAT(inspected.out, HasSubstr("  input  f32  784xbatch\n"));
  std::vector<std::string> fields;
  std::istringstream last(logged("columns").back());
  for (std::string field; std::getline(last, field, ',');) fields.push_back(field);
  const double validated = std::stod(fields.at(5));
  EXPECT_GT(validated, 0.5) << "nothing was learnt, so that any answers would do";
  const Outcome outcome = run_program({"eval", at("columns/model.onnx"), "--data", data_.string(),
                                       "--device", "cpu", "--format", "json"});
  expect_success(outcome);
  const auto evaluated = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(evaluated.at("examples"), 17);
  EXPECT_NEAR(evaluated.at("accuracy").get<double>(), validated, 1e-6);
}

/// An extent is taken for the batch only where it can be one.
TEST_F(CliTrain, RefusesModelsWithoutABatch) {
  std::vector<std::string> words = arguments("out", {});
  onnx::ModelProto model = model_with_input({28});
  add_weights(model, "w", {28, 10});
  add_node(model, "MatMul", {"x", "w"}, "y");
  onnx::TypeProto& output = *model.mutable_graph()->mutable_output(0)->mutable_type();
  output.mutable_tensor_type()->mutable_shape()->clear_dim();
  output.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(10);
  words[1] = save(model, at("one.onnx"));
  const Outcome outcome = run_program(words);
  expect_error(outcome, kUsage, "the model makes 'y' 10 of 'x' 28");
  EXPECT_THAT(outcome.err, ::testing::Not(::testing::HasSubstr("batches of")));
}

/// Pictures of another size than those for training are cut too.
TEST_F(CliTrain, SaysWhatItCutsOfPictures) {
  onnx::ModelProto model = model_with_input({7, 1, 28, 28});
  add_node(model, "GlobalAveragePool", {"x"}, "mean");
  add_node(model, "Flatten", {"mean"}, "flat");
  add_weights(model, "w", {1, 10});
  add_node(model, "MatMul", {"flat", "w"}, "y");
  std::vector<std::string> words = arguments("out", {"--steps", "1", "--restart"});
  words.erase(std::ranges::find(words, "--epochs"), std::ranges::find(words, "--epochs") + 2);
  words.erase(std::ranges::find(words, "--batch"), std::ranges::find(words, "--batch") + 2);
  words[1] = save(model, at("model.onnx"));
  const auto errors = [&](std::int64_t height) {
    write_npz(data_, {{{"x_train", pictures(63)},
                       {"y_train", labels(63)},
                       {"x_test", Tensor::allocate(DType::u8, {3, height, 17})},
                       {"y_test", labels(3)}}});
    const Outcome outcome = run_program(words);
    expect_success(outcome);
    return outcome.err;
  };
  EXPECT_THAT(errors(30),
              ::testing::HasSubstr("(test): pictures are 30x17, the network sees 28x28"));
  EXPECT_THAT(errors(28), ::testing::Not(::testing::HasSubstr("pictures are")));
}

TEST_F(CliTrain, WhatWasLearnedIsAModel) {
  const Outcome outcome = train("out", {"--format", "json", "--test-every", "5"});
  expect_success(outcome);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["end"], "finished");
  EXPECT_EQ(report["steps"], 4 * 9);
  EXPECT_EQ(report["builds_after_first_step"], 0);
  const Outcome eval = run_program({"eval", at("out/model.onnx"), "--data", data_.string(), "-d",
                                    "cpu", "--batch", "7", "--format", "json"});
  expect_success(eval);
  const auto found = nlohmann::json::parse(eval.out);
  EXPECT_EQ(found["examples"], 17);
  EXPECT_DOUBLE_EQ(found["accuracy"], report["validation_accuracy"]);
  const Outcome shared = train(
      "shared", {"--format", "json", "--validation", "0.2", "--epochs", "2", "--patience", "1"});
  expect_success(shared);
  const Outcome again = run_program({"eval", at("shared/model.onnx"), "--data", data_.string(),
                                     "-d", "cpu", "--batch", "7", "--format", "json"});
  expect_success(again);
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(again.out)["accuracy"],
                   nlohmann::json::parse(shared.out)["test_accuracy"]);
  expect_error(train("out"), kUsage,
               "holds the checkpoint of an earlier training; resume it (--resume), start anew over "
               "it (--restart), or take another folder (--out)\n");
  expect_error(train("out", {"--resume", "--weight-decay", "0.5"}), kUsage, "optimizer was");
}

/// The parameters of a checkpoint, in the model that was trained: those of model.onnx, or the best.
TEST_F(CliTrain, EvalReadsCheckpoints) {
  const Outcome trained = train("out", {"--format", "json", "--patience", "4"});
  expect_success(trained);
  const auto eval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"eval",    "--data", data_.string(), "-d",  "cpu",
                                   "--batch", "7",      "--format",     "json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const Outcome model = eval({at("out/model.onnx")});
  expect_success(model);
  const auto learned = nlohmann::json::parse(model.out);
  const Outcome best = eval({"c18-mlp", "--checkpoint", at("out/best.safetensors")});
  expect_success(best);
  EXPECT_EQ(nlohmann::json::parse(best.out)["confusion"], learned["confusion"]);
  EXPECT_EQ(nlohmann::json::parse(best.out)["checkpoint"], at("out/best.safetensors"));
  // The model that is trained may be named by its file too.
  expect_success(run_program({"new", "c18-mlp", "-o", at("new.onnx"), "--seed", "8"}));
  for (const std::string& name : {std::string("c18-mlp"), at("new.onnx"), at("out/model.onnx")}) {
    const Outcome newest = eval({name, "--checkpoint", at("out")});
    expect_success(newest);
    EXPECT_NE(newest.err.find("checkpoint.safetensors, after step 36"), std::string::npos);
  }
  expect_error(eval({"lenet5", "--checkpoint", at("out")}), kBadFile, "belongs to another model");
  expect_error(eval({"c18-mlp", "--checkpoint", at("")}), kBadFile, "holds no checkpoint");
  expect_error(eval({"c18-mlp", "--checkpoint", at("new.onnx")}), kBadFile, "new.onnx");
  std::string bytes = read_bytes(at("out/best.safetensors"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  std::ofstream(at("bad.safetensors"), std::ios::binary) << bytes;
  expect_error(eval({"c18-mlp", "--checkpoint", at("bad.safetensors")}), kBadFile, "is damaged");
}

/// Parameters that stay are not in a checkpoint: they must be those of the model that is given.
TEST_F(CliTrain, WhatIsFrozenMustBeTheSame) {
  const std::vector<std::string> freeze{"--freeze", "*weight*", "--epochs", "1"};
  for (const char* seed : {"1", "2"}) {
    expect_success(
        run_program({"new", "c18-mlp", "-o", at(std::string(seed) + ".onnx"), "--seed", seed}));
  }
  const auto train_file = [&](const char* seed, std::vector<std::string> more) {
    std::vector<std::string> words = arguments("out", more);
    words[1] = at(std::string(seed) + ".onnx");
    return run_program(words);
  };
  expect_success(train_file("1", freeze));
  std::vector<std::string> resumed = freeze;
  resumed.push_back("--resume");
  expect_success(train_file("1", resumed));
  expect_error(train_file("2", resumed), kUsage, "what is frozen of it were others before");
  const auto eval = [&](const char* seed) {
    return run_program({"eval", at(std::string(seed) + ".onnx"), "--checkpoint", at("out"),
                        "--data", data_.string(), "-d", "cpu"});
  };
  expect_success(eval("1"));
  expect_error(eval("2"), kBadFile, "belongs to another model");
}

/// As PyTorch exports a fresh network in training mode: equal initial values are one constant, and
/// the normalization gives its statistics back.
TEST_F(CliTrain, AnExportInTrainingModeIsTrainedAndEvaluated) {
  onnx::ModelProto model = network_of_pictures();
  add_weights(model, "weights", {784, 10});
  add_weights(model, "ones", {10});
  add_node(model, "MatMul", {"x", "weights"}, "product");
  add_node(model, "Identity", {"ones"}, "scale");
  onnx::NodeProto& norm =
      add_node(model, "BatchNormalization", {"product", "scale", "ones", "ones", "ones"}, "y");
  norm.add_output("mean");
  norm.add_output("variance");
  onnx::AttributeProto& mode = *norm.add_attribute();
  mode.set_name("training_mode");
  mode.set_type(onnx::AttributeProto::INT);
  mode.set_i(1);
  const std::string file = save(model, at("exported.onnx"));
  const Outcome inspected = run_program({"inspect", file});
  expect_success(inspected);
  EXPECT_THAT(inspected.out, ::testing::HasSubstr("trainable: yes\n"));
  std::vector<std::string> words = arguments("out", {"--epochs", "1"});
  words[1] = file;
  expect_success(run_program(words));
  const auto eval = [&](const std::vector<std::string>& which) {
    std::vector<std::string> all{"eval",    "--data", data_.string(), "-d",  "cpu",
                                 "--batch", "7",      "--format",     "json"};
    all.insert(all.end(), which.begin(), which.end());
    const Outcome outcome = run_program(all);
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out)["confusion"];
  };
  EXPECT_EQ(eval({file, "--checkpoint", at("out")}), eval({at("out/model.onnx")}));
}

/// Before anything reads a node's inputs by their place.
TEST_F(CliTrain, RefusesNodesWithoutInputs) {
  onnx::ModelProto model = network_of_pictures();
  add_weights(model, "weights", {784, 10});
  add_node(model, "Identity", {}, "dead");
  add_node(model, "MatMul", {"x", "weights"}, "y");
  const std::string file = save(model, at("bad.onnx"));
  std::vector<std::string> words = arguments("out", {});
  words[1] = file;
  expect_error(run_program(words), kBadFile, "Identity 'node_dead': has 0 inputs");
  EXPECT_THAT(run_program({"inspect", file}).out,
              ::testing::HasSubstr("trainable: no: Identity 'node_dead': has 0 inputs"));
}

/// A sum of sigmoids' cross entropies is no loss of a Softmax, and the other way round.
TEST_F(CliTrain, NamesTheLossThatFits) {
  onnx::ModelProto model = network_of_pictures();
  add_weights(model, "weights", {784, 10});
  add_node(model, "MatMul", {"x", "weights"}, "product");
  add_node(model, "Softmax", {"product"}, "y");
  std::vector<std::string> words = arguments("out", {"--loss", "binary-cross-entropy"});
  words[1] = save(model, at("softmax.onnx"));
  expect_error(run_program(words), kUsage, "goes with the loss softmax-cross-entropy");
}

/// On a terminal a line changes; it is cut at the terminal's width, and goes before lines that
/// stay.
TEST_F(CliTrain, ALineChangesOnATerminal) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const winsize size{24, 40, 0, 0};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  std::vector<std::string> words = arguments("out", {"--epochs", "1"});
  words.insert(words.begin(), MORTON_PROGRAM);
  std::vector<std::string> environment = environment_with({});
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, ::ptsname(terminal),
                                     O_RDWR | O_NOCTTY, 0);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, MORTON_PROGRAM, &actions, nullptr, pointers_of(words).data(),
                          pointers_of(environment).data()),
            0);
  ::posix_spawn_file_actions_destroy(&actions);
  std::string shown;
  std::array<char, 4096> part{};
  // When the last one that has it open ends, reading fails.
  for (ssize_t got = 0; (got = ::read(terminal, part.data(), part.size())) > 0;) {
    shown.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << shown;
  const std::size_t begin = shown.find("\repoch 1/1  batch 1/9  loss ");
  ASSERT_NE(begin, std::string::npos) << shown;
  EXPECT_EQ(shown.find("\033[K", begin) - begin, 1U + 39U) << shown;
  EXPECT_THAT(shown, ::testing::HasSubstr("\r\033[Kepoch 1/1  step 9  loss ")) << shown;
}

TEST_F(CliTrain, WritesOverNothing) {
  std::filesystem::create_directory(at("out"));
  expect_success(run_program({"new", "c18-mlp", "-o", at("out/model.onnx")}));
  const std::string before = read_bytes(at("out/model.onnx"));
  expect_error(train("out"), kUsage,
               "model.onnx: is there already, without a checkpoint, and a training would write "
               "over it; start anew over it (--restart), or take another folder (--out)\n");
  std::vector<std::string> words = arguments("out", {"--restart"});
  words[1] = at("out/model.onnx");
  expect_error(run_program(words), kUsage, "over the model that it starts from");
  EXPECT_EQ(read_bytes(at("out/model.onnx")), before);
}

/// What resuming does where nothing is left to do.
TEST_F(CliTrain, TheBestStaysTheModel) {
  // With so large a rate the last epoch is worse than an earlier one.
  const std::vector<std::string> steps{"--epochs", "3", "--lr", "30"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = steps;
    all.insert(all.end(), more.begin(), more.end());
    return train("out", all);
  };
  expect_success(with({"--patience", "9"}));
  const std::string best = read_bytes(at("out/model.onnx"));
  const Outcome again = with({"--patience", "9", "--resume"});
  expect_success(again);
  EXPECT_THAT(again.out, ::testing::Not(::testing::HasSubstr("images a second")));
  EXPECT_EQ(read_bytes(at("out/model.onnx")), best);
  expect_error(with({"--resume"}), kUsage, "ask for patience again");
  EXPECT_EQ(read_bytes(at("out/model.onnx")), best);
}

TEST_F(CliTrain, ALossThatIsNotFiniteStopsIt) {
  const Outcome outcome = train("out", {"--lr", "1e30"});
  expect_error(outcome, kBadFile, "expected finite numbers");
  expect_error(train("other", {"--lr", "1e39"}), kUsage, "f32 can hold");
}

/// Killed at random moments, mostly in a checkpoint, which writes slowly, and resumed: the losses
/// of a training that was never stopped.
TEST_F(CliTrain, KilledAndResumedItLosesNothing) {
  expect_success(train("whole"));
  constexpr unsigned kSeed = 20240614;
  constexpr int kKills = 6;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  // A hundred kills where ./dev check --long asks for them.
  const int trainings = is_long_run() ? 17 : 1;
  int killed = 0;
  for (int training = 0; training < trainings; ++training) {
    const std::string parts = "parts" + std::to_string(training);
    for (int kill = 0; kill < kKills; ++kill) killed += start_and_kill(parts, random) ? 1 : 0;
    expect_success(train(parts, in_parts_));
    EXPECT_EQ(logged(parts), logged("whole"));
    EXPECT_EQ(read_bytes(at(parts) + "/model.onnx"), read_bytes(at("whole") + "/model.onnx"));
  }
  EXPECT_GT(killed, trainings);
}

/// As nohup and shells' background jobs start it.
TEST_F(CliTrain, WhatTheParentIgnoresIsIgnored) {
  std::vector<std::string> words = arguments("out", {"--epochs", "100000"});
  words.insert(words.begin(), MORTON_PROGRAM);
  std::vector<std::string> environment = environment_with({});
  const auto before = ::signal(SIGINT, SIG_IGN);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, MORTON_PROGRAM, nullptr, nullptr, pointers_of(words).data(),
                          pointers_of(environment).data()),
            0);
  ::signal(SIGINT, before);
  const std::string checkpoint = at("out/checkpoint.safetensors");
  for (int waited = 0; waited < 600 && !std::filesystem::exists(checkpoint); ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::kill(child, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

TEST_F(CliTrain, AFolderBelongsToOneTrainingAndCtrlCSavesAndStops) {
  std::vector<std::string> words = arguments("out", {"--epochs", "100000"});
  words.insert(words.begin(), MORTON_PROGRAM);
  std::vector<std::string> environment = environment_with({});
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, MORTON_PROGRAM, nullptr, nullptr, pointers_of(words).data(),
                          pointers_of(environment).data()),
            0);
  const std::string checkpoint = at("out/checkpoint.safetensors");
  for (int waited = 0; waited < 600 && !std::filesystem::exists(checkpoint); ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const char* start : {"--resume", "--restart"}) {
    expect_error(train("out", {start}), kUsage, at("out") + ": another training writes");
  }
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  EXPECT_TRUE(std::filesystem::exists(at("out/model.onnx")));
}

/// R17's networks have the batch last; the page's answers need it there too.
TEST_F(CliTrain, AModelWhoseBatchIsLastHasAPage) {
  const std::string page = at("last/page.html");  // in the folder that the training makes
  std::vector<std::string> words = arguments("last", {"--epochs", "1", "--html", page});
  words[1] = "r17-digits";
  const Outcome outcome = run_program(words);
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("loss, last epoch"), std::string::npos) << outcome.text();
  EXPECT_NE(read_bytes(page).find("Confusion matrix"), std::string::npos);
}

TEST_F(CliTrain, APageThatCannotBeWrittenIsToldBeforehand) {
  expect_error(train("out", {"--html", at("none/page.html")}), kUsage,
               "--html: " + at("none/page.html") + ": cannot be written: there is no folder");
  EXPECT_FALSE(std::filesystem::exists(at("out")));
}

}  // namespace
}  // namespace morton::test
