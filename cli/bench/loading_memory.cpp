// SPDX-License-Identifier: Apache-2.0
#include "bench/loading_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/output.hpp"
#include "common/read_model.hpp"
#include "morton/error.hpp"

namespace morton::cli {

std::int64_t peak_host_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

LoadingMemory loading_memory(const std::string& path, const CompiledModel& model) {
  LoadingMemory memory;
  memory.peak_host_bytes = peak_host_bytes();
  if (!names_architecture(path)) {
    std::error_code problem;
    memory.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, problem));
    if (problem) throw ModelError(fmt::format("{}: {}", path, problem.message()));
  }
  const Json device = Json::parse(model.device().json());
  if (device.at("kind") == "cpu") memory.of_the_device_bytes = model.device().used_bytes();
  return memory;
}

std::string text_of(const LoadingMemory& memory) {
  const std::int64_t own = memory.peak_host_bytes - memory.of_the_device_bytes;
  std::string text = fmt::format("loading {}", bytes_text(own));
  if (memory.of_the_device_bytes > 0) {
    text += fmt::format(" besides the device's {}", bytes_text(memory.of_the_device_bytes));
  }
  const std::string file = memory.file_bytes == 0 ? "none" : bytes_text(memory.file_bytes);
  return text + fmt::format(" (the model's file: {})", file);
}

}  // namespace morton::cli
