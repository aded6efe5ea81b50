// SPDX-License-Identifier: Apache-2.0
#include "device/open/build_log.hpp"

#include <sstream>

namespace morton::device {
namespace {

constexpr int kMaxLogLines = 40;
constexpr std::size_t kMaxLogBytes = 8000;

}  // namespace

cl_int build_result(const cl::Program& program, const cl::Device& device,
                    const std::string& options) {
  const cl_device_id id = device();
  return ::clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr);
}

void build_program(const cl::Program& program, const cl::Device& device,
                   const std::string& options) {
  const cl_int result = build_result(program, device, options);
  if (result != CL_SUCCESS) throw cl::Error(result, "clBuildProgram");
}

std::string log_of(const cl::Program& program, const cl::Device& device) {
  std::string log;
  try {
    log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
  } catch (const cl::Error&) {
    return "";
  }
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

std::string shortened_log(const std::string& log) {
  std::istringstream lines(log);
  std::string text;
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    if (++count > kMaxLogLines || text.size() + line.size() > kMaxLogBytes) {
      return text + "\n  ... (" + std::to_string(log.size()) + " bytes of log in all)";
    }
    text += "\n  " + line;
  }
  return text;
}

}  // namespace morton::device
