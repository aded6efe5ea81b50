// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "onnx.pb.h"
#include "support/rooms.hpp"

namespace morton::test {

/// Exit statuses of the program, as docs/command_line.md lists them.
constexpr int kCheckFailed = 1;
constexpr int kUsage = 2;
constexpr int kBadFile = 3;
constexpr int kDevice = 4;

/// What a run of the program left behind.
struct Outcome {
  int status = -1;  ///< exit status; -1 when a signal ended it
  int signal = 0;
  double cpu_ms = 0.0;        ///< that it took of the processor
  std::int64_t peak_kib = 0;  ///< most memory that it had
  std::string out, err;

  /// All of it in one text, for messages.
  [[nodiscard]] std::string text() const;
};

/// Runs the program of this build from the repository's root, with these variables set (beside
/// those of this process), and waits for it.
[[nodiscard]] Outcome run_program(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables = {});

/// Expects this exit status, exactly one line on standard error that begins with "morton: ", `part`
/// in what stands there, and nothing on standard output.
void expect_error(const Outcome& outcome, int status, std::string_view part);
/// Expects exit status 0 and no error line.
void expect_success(const Outcome& outcome);

void write_bytes(const std::filesystem::path& path, std::string_view bytes);
[[nodiscard]] std::string read_bytes(const std::filesystem::path& path);
/// Reproducible noise.
[[nodiscard]] std::string random_bytes(std::size_t count, std::uint64_t seed);

/// Model with the f32 input "x" of a shape, and the f32 output "y" of two open extents.
[[nodiscard]] onnx::ModelProto model_with_input(const std::vector<std::int64_t>& shape);
/// Adds a node; returns it for attributes.
onnx::NodeProto& add_node(onnx::ModelProto& model, const std::string& type,
                          const std::vector<std::string>& inputs, const std::string& output);
/// Adds an f32 constant with the values 0.25, 0.5, ...
void add_weights(onnx::ModelProto& model, const std::string& name,
                 const std::vector<std::int64_t>& shape);
/// Writes it and returns the path as text.
std::string save(const onnx::ModelProto& model, const std::filesystem::path& path);

/// Files of the repository, relative to its root, where the program runs.
inline constexpr const char* kLenet = "models/lenet5.onnx";
inline constexpr const char* kDigit = "examples/data/digit_7.png";

}  // namespace morton::test
