// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

/// What clBuildProgram returns for one device. (OpenCL's binding asks for the log whatever came of
/// it, and tells of that call where it fails.)
[[nodiscard]] cl_int build_result(const cl::Program& program, const cl::Device& device,
                                  const std::string& options);
/// Throws cl::Error that names clBuildProgram.
void build_program(const cl::Program& program, const cl::Device& device,
                   const std::string& options);
/// What the compiler said; empty where the driver does not tell.
[[nodiscard]] std::string log_of(const cl::Program& program, const cl::Device& device);
/// The first lines of a compiler's log, each on a line of its own; says how long all of it is where
/// lines are left out.
[[nodiscard]] std::string shortened_log(const std::string& log);

}  // namespace morton::device
