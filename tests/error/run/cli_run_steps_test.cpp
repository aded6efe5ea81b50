// SPDX-License-Identifier: Apache-2.0
//
// run --feed --steps: what cannot be is refused before anything runs.
#include <gtest/gtest.h>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

void add_port(onnx::ValueInfoProto& port, const std::string& name) {
  port.set_name(name);
  auto& type = *port.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_value(2);
}

/// y = s + x, and next = y + w, of two numbers each, w 0.25 and 0.5.
std::string counter(const std::filesystem::path& folder) {
  onnx::ModelProto model = model_with_input({2});
  onnx::GraphProto& graph = *model.mutable_graph();
  add_port(*graph.add_input(), "s");
  graph.clear_output();
  add_port(*graph.add_output(), "y");
  add_port(*graph.add_output(), "next");
  add_weights(model, "w", {2});
  add_node(model, "Add", {"s", "x"}, "y");
  add_node(model, "Add", {"y", "w"}, "next");
  return save(model, folder / "counter.onnx");
}

/// A .npy file of f32.
std::string numbers(const std::filesystem::path& path, const std::string& shape,
                    const std::vector<float>& values) {
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  head += std::string(117 - head.size(), ' ') + "\n";
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += head;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  write_bytes(path, bytes);
  return path.string();
}

class CliRunSteps : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome run(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", counter(folder_.path())});
    return run_program(more);
  }
  [[nodiscard]] std::string file(const std::string& name, const std::string& shape,
                                 const std::vector<float>& values) const {
    return name + ":" + numbers(folder_.path() / (name + ".npy"), shape, values);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(CliRunSteps, AnInputTakesTheOutputOfTheStepBefore) {
  const Outcome outcome = run({"-i", file("x", "3, 2", {1, 1, 10, 10, 100, 100}), "--feed",
                               "next:s", "--steps", "3", "--format", "json"});
  expect_success(outcome);
  // y: 1 and 1, then 11.25 and 11.5, then 111.5 and 112; the last `next` is 111.75 and 112.5.
  for (const char* mean : {"41.375", "112.125"}) {
    EXPECT_NE(outcome.out.find(mean), std::string::npos) << outcome.text();
  }
}

TEST_F(CliRunSteps, NamesThatTheModelHasNot) {
  const std::string x = file("x", "2,", {1, 2});
  expect_error(run({"-i", x, "--feed", "next:t"}), kUsage, "'t' is no input of the model");
  expect_error(run({"-i", x, "--feed", "last:s"}), kUsage, "'last' is no output of the model");
  expect_error(run({"-i", x, "--feed", "next"}), kUsage, "expected OUTPUT:INPUT");
  expect_error(run({"-i", x, "--feed", "next:s", "--feed", "next:x"}), kUsage,
               "output 'next' feeds two inputs");
}

TEST_F(CliRunSteps, PartsForOtherNumbersOfSteps) {
  expect_error(
      run({"-i", file("x", "3, 2", {1, 1, 1, 1, 1, 1}), "--feed", "next:s", "--steps", "4"}),
      kUsage, "3 parts of input 'x', and --steps is 4");
  expect_error(run({"-i", file("x", "2,", {1, 2}), "--steps", "0"}), kUsage, "--steps");
}

}  // namespace
}  // namespace morton::test
