// SPDX-License-Identifier: Apache-2.0
#include "error/cli_program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>

#include "support/child_process.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

int count_error_lines(const std::string& text) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("morton: ")) ++count;
  }
  return count;
}

}  // namespace

std::string Outcome::text() const {
  return "status " + std::to_string(status) + ", signal " + std::to_string(signal) +
         "\n--- stdout\n" + out + "\n--- stderr\n" + err;
}

Outcome run_program(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& variables) {
  const TemporaryFolder folder;
  // Files rather than pipes: a pipe that nobody empties stops the program.
  const std::string out_path = (folder.path() / "out").string();
  const std::string err_path = (folder.path() / "err").string();
  std::vector<std::string> words{MORTON_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(variables);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path.c_str(), flags, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path.c_str(), flags, 0600);
  ::posix_spawn_file_actions_addchdir_np(&actions, MORTON_SOURCE_DIR);
  pid_t child = 0;
  const int spawned = ::posix_spawn(&child, MORTON_PROGRAM, &actions, nullptr,
                                    pointers_of(words).data(), pointers_of(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) throw std::runtime_error("cannot start " MORTON_PROGRAM);

  int state = 0;
  rusage usage{};
  ::wait4(child, &state, 0, &usage);
  Outcome outcome;
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    outcome.cpu_ms +=
        1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  }
  outcome.peak_kib = usage.ru_maxrss;
  if (WIFEXITED(state)) outcome.status = WEXITSTATUS(state);
  if (WIFSIGNALED(state)) outcome.signal = WTERMSIG(state);
  outcome.out = read_bytes(out_path);
  outcome.err = read_bytes(err_path);
  return outcome;
}

void expect_error(const Outcome& outcome, int status, std::string_view part) {
  EXPECT_EQ(outcome.signal, 0) << outcome.text();
  EXPECT_EQ(outcome.status, status) << outcome.text();
  EXPECT_EQ(count_error_lines(outcome.err), 1) << outcome.text();
  EXPECT_NE(outcome.err.find(part), std::string::npos) << "expected to read: " << part << "\n"
                                                       << outcome.text();
  EXPECT_EQ(outcome.out, "") << outcome.text();
}

void expect_success(const Outcome& outcome) {
  EXPECT_EQ(outcome.signal, 0) << outcome.text();
  EXPECT_EQ(outcome.status, 0) << outcome.text();
  EXPECT_EQ(count_error_lines(outcome.err), 0) << outcome.text();
}

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(generator() & 0xFFU);
  return bytes;
}

onnx::ModelProto model_with_input(const std::vector<std::int64_t>& shape) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("test");
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t extent : shape) {
    input.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  onnx::ValueInfoProto& output = *graph.add_output();
  output.set_name("y");
  output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  for (const char* symbol : {"rows", "columns"}) {
    output.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(symbol);
  }
  return model;
}

onnx::NodeProto& add_node(onnx::ModelProto& model, const std::string& type,
                          const std::vector<std::string>& inputs, const std::string& output) {
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(type);
  node.set_name("node_" + output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void add_weights(onnx::ModelProto& model, const std::string& name,
                 const std::vector<std::int64_t>& shape) {
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    tensor.add_dims(extent);
    count *= extent;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    tensor.add_float_data(0.25F * static_cast<float>(i + 1));
  }
}

std::string save(const onnx::ModelProto& model, const std::filesystem::path& path) {
  write_bytes(path, model.SerializeAsString());
  return path.string();
}

}  // namespace morton::test
