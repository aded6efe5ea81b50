// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "bench/peers/shared_library.hpp"
#include "common/device_buffers.hpp"

namespace morton::cli {

/// CLBlast's kernels with their parameters' values: {"Xgemm": {"MWG": 64, ...}, ...}.
using ClblastParameters = std::map<std::string, std::map<std::string, std::size_t>>;

/// Throws DeviceError unless the status is CLBlast's success.
void require_clblast(int status, const std::string& what);

/// Gives these parameters to CLBlast, for f32. Throws DeviceError that names `origin`.
void override_parameters(const SharedLibrary& library, cl_device_id device,
                         const ClblastParameters& parameters, const std::string& origin);

/// Likewise those of a file that bench/clblast_tune.py wrote. Throws ModelError for another one.
void override_by_file(const SharedLibrary& library, cl_device_id device, const std::string& path);

}  // namespace morton::cli
