// SPDX-License-Identifier: Apache-2.0
#include "device/use/given_program.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "device/open/build_log.hpp"

namespace morton::device {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::shared_ptr<CachedProgram> program_of_binary(OpenClDevice& device,
                                                 const std::vector<std::string>& kernels,
                                                 std::string_view binary) {
  auto program = std::make_shared<CachedProgram>();
  try {
    const cl::Program::Binaries binaries{{binary.begin(), binary.end()}};
    program->program = cl::Program(device.context(), {device.device()}, binaries);
    build_program(program->program, device.device(), device.programs().options());
    for (const std::string& kernel : kernels) {
      (void)cl::Kernel(program->program, kernel.c_str());
    }
  } catch (const cl::Error& error) {
    throw RefusedBinary("the driver refused the binary of the kernels " + listed(kernels) + ": " +
                        error.what() + " returned " + opencl_error_text(error.err()));
  }
  program->kernels = kernels;
  program->origin = CachedProgram::Origin::disk;
  program->stored = true;
  return program;
}

std::string binary_of(const OpenClDevice& device, const CachedProgram& program) {
  const std::string what = "program with the kernels " + listed(program.kernels);
  std::string binary;
  with_device_errors(what, device.info(), [&] {
    const auto devices = program.program.getInfo<CL_PROGRAM_DEVICES>();
    const auto binaries = program.program.getInfo<CL_PROGRAM_BINARIES>();
    for (std::size_t i = 0; i < std::min(devices.size(), binaries.size()); ++i) {
      if (devices[i]() != device.device()()) continue;
      binary.assign(binaries[i].begin(), binaries[i].end());
    }
  });
  if (binary.empty()) throw DeviceError(what + ": the driver gives no binary");
  return binary;
}

}  // namespace morton::device
