// SPDX-License-Identifier: Apache-2.0
//
// What libmorton and its module for MPI know of each other. The module alone links MPI; the library
// loads it when it is asked for.
#pragma once

#include <cstddef>

namespace morton::api {

/// Changes with this struct, so that a module of another version is refused.
inline constexpr int kMpiModuleVersion = 1;

/// The module's functions. Those that may fail return null, or a text that says why; it stays until
/// the next call.
struct MpiModule {
  int version;
  const char* (*begin)(int* rank, int* size);
  void (*end)();
  /// As Communicator has them. Lengths in bytes, one for each rank.
  const char* (*exchange)(const void* sent, const std::size_t* sent_bytes, void* received,
                          const std::size_t* received_bytes);
  const char* (*gather)(const void* own, void* all, const std::size_t* bytes);
  const char* (*sum)(float* values, std::size_t count);
  void (*abort)(int status);
};

/// The one function that the module exports, by this name.
using MpiModuleEntry = const MpiModule* (*)();
inline constexpr const char* kMpiModuleEntry = "morton_mpi_module";

}  // namespace morton::api
