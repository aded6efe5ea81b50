// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"

namespace morton::device {

/// What a job passes to its kernel.
struct JobArgument {
  enum class Kind : std::uint8_t {
    buffer,     ///< `value` bytes of zeros
    image_f32,  ///< `width` x `height` texels of four f32
    image_f16,
    integer,  ///< `value` itself
  } kind = Kind::integer;
  std::int64_t value = 0;
  std::int64_t width = 0, height = 0;
};

/// One kernel for a worker process: to be built, launched once, and stored. PoCL compiles a kernel
/// at its first launch, for that launch's work-group; so the job says what is launched.
struct KernelJob {
  std::string device, driver_version;  ///< DeviceInfo's name and driver.version
  std::string id;                      ///< DeviceInfo's id, of several devices with these
  std::string source, function, options;
  std::array<std::int64_t, 3> global{1, 1, 1}, local{1, 1, 1};
  std::vector<JobArgument> arguments;  ///< in the kernel's order
  std::string key, owner;              ///< as in ProgramFile
  std::string path;                    ///< of the file to be written
};

[[nodiscard]] Json to_json(const KernelJob& job);
/// Throws ModelError for what is no job.
[[nodiscard]] KernelJob kernel_job_from(const JsonReader& reader);

}  // namespace morton::device
