// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/export.hpp"
#include "morton/model.hpp"

namespace morton {

/// An argument of a kernel.
struct KernelArgument {
  std::string type;                   ///< "__global const float*", "int"
  std::string name;                   ///< "lhs", "M_pad"
  std::optional<std::int64_t> value;  ///< of an integer
  std::string meaning;  ///< "the extent M, padded"; of memory what lies there, and how
};

/// A kernel as a device gets it, and how it is launched.
struct KernelText {
  std::string step;      ///< of a model's plan: what it computes; else empty
  std::string kernel;    ///< the catalogue's entry
  std::string device;    ///< its name
  std::string family;    ///< of its problem, "gemm"; empty where small kernels share a launch
  std::string problem;   ///< "gemm K=64 M=64 N=64 f32"
  std::string tunables;  ///< "TILE_M=6 TILE_N=64, the entry's standard"; empty where it has none
  std::array<std::int64_t, 3> global{1, 1, 1}, local{1, 1, 1};  ///< work-items
  std::string function;                                         ///< the kernel's name in the text
  /// Operations that it takes, those on padding and repeated ones included; and those for each byte
  /// that it reads, of kernels that read elements again (windows) one for each element.
  double work = 0.0, work_for_each_byte = 0.25;
  double bytes = 0.0;                     ///< of its operands' elements, once
  std::vector<KernelArgument> arguments;  ///< in the order of clSetKernelArg's index
  std::string text;  ///< OpenCL C; empty for a step that is no kernel of the catalogue's
};

/// The entry `kernel` of the catalogue on a problem of its family with these sizes ("M" -> 512);
/// what is not given is as the family's example has it. The device, described by JSON, need not be
/// present. Of the options count tunables, `local`, tuning data and catalogue files. Throws
/// UsageError for a kernel that there is not, with names that are near, and for sizes that make no
/// problem; UnsupportedError with the reason where the kernel cannot compute it on the device, and
/// for a routine of a library.
[[nodiscard]] MORTON_API KernelText kernel_text(const std::string& kernel,
                                                const std::map<std::string, std::int64_t>& sizes,
                                                const std::string& device_json,
                                                const CompileOptions& options = {});

/// The kernels of the model's plan for the device, one for each step that a run makes. Throws what
/// plan_text throws.
[[nodiscard]] MORTON_API std::vector<KernelText> kernel_texts(const Model& model,
                                                              const std::string& device_json,
                                                              const CompileOptions& options = {});

/// The kernels that have a text: family -> names. Throws ModelError for a bad file.
[[nodiscard]] MORTON_API std::map<std::string, std::vector<std::string>> kernel_names(
    const std::vector<std::string>& catalogue_files = {});

}  // namespace morton
