// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/program_cache.hpp"
#include "morton/tools/build.hpp"

namespace morton {
using namespace tools;
namespace {

/// Takes what the process writes to standard output and standard error while it lives, in the order
/// in which it is written.
class TakenOutput {
 public:
  TakenOutput() : file_(std::tmpfile()) {
    if (file_ == nullptr)
      throw DeviceError("build: no temporary file for what the compiler prints");
    std::fflush(nullptr);
    for (Stream& stream : streams_) {
      stream.before = ::dup(stream.number);
      if (stream.before >= 0) ::dup2(::fileno(file_), stream.number);
    }
  }
  TakenOutput(const TakenOutput&) = delete;
  TakenOutput& operator=(const TakenOutput&) = delete;
  ~TakenOutput() {
    give_back();
    std::fclose(file_);
  }

  /// All of it so far; both go where they went before from now on.
  std::string text() {
    give_back();
    std::string text;
    std::rewind(file_);
    std::array<char, 4096> part{};
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), file_)) {
      text.append(part.data(), size);
    }
    return text;
  }

 private:
  struct Stream {
    int number, before = -1;
  };

  void give_back() {
    std::fflush(nullptr);
    for (Stream& stream : streams_) {
      if (stream.before < 0) continue;
      ::dup2(stream.before, stream.number);
      ::close(stream.before);
      stream.before = -1;
    }
  }

  std::FILE* file_;
  std::array<Stream, 2> streams_{{{STDOUT_FILENO}, {STDERR_FILENO}}};
};

}  // namespace

KernelBuild build_kernel(const KernelText& kernel, const Device& device) {
  if (kernel.text.empty()) throw UsageError(kernel.kernel + " has no text that could be built");
  const auto& opened = Inside::of(device);
  ProgramCache programs(opened->context(), opened->device(), opened->info(), {});
  KernelBuild build;
  BuildReport report;
  TakenOutput taken;
  const auto begin = std::chrono::steady_clock::now();
  try {
    static_cast<void>(programs.get(kernel.text, {kernel.function}, report));
    build.is_built = true;
  } catch (const DeviceError& error) {
    build.problem = error.what();
  }
  const auto end = std::chrono::steady_clock::now();
  build.milliseconds = std::chrono::duration<double, std::milli>(end - begin).count();
  build.said = taken.text();
  return build;
}

}  // namespace morton
