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

/// Takes what the process writes to standard error while it lives.
class TakenStandardError {
 public:
  TakenStandardError() : file_(std::tmpfile()), before_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    if (file_ != nullptr && before_ >= 0) ::dup2(::fileno(file_), STDERR_FILENO);
  }
  TakenStandardError(const TakenStandardError&) = delete;
  TakenStandardError& operator=(const TakenStandardError&) = delete;
  ~TakenStandardError() {
    give_back();
    if (file_ != nullptr) std::fclose(file_);
  }

  /// All of it so far; standard error is as before from now on.
  std::string text() {
    give_back();
    std::string text;
    if (file_ == nullptr) return text;
    std::rewind(file_);
    std::array<char, 4096> part{};
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), file_)) {
      text.append(part.data(), size);
    }
    return text;
  }

 private:
  void give_back() {
    if (before_ < 0) return;
    std::fflush(stderr);
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    before_ = -1;
  }

  std::FILE* file_;
  int before_;
};

}  // namespace

KernelBuild build_kernel(const KernelText& kernel, const Device& device) {
  if (kernel.text.empty()) throw UsageError(kernel.kernel + " has no text that could be built");
  const auto& opened = Inside::of(device);
  ProgramCache programs(opened->context(), opened->device(), opened->info(), {});
  KernelBuild build;
  BuildReport report;
  TakenStandardError taken;
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
