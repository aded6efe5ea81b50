// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::plan {

/// A file of tuning data (docs/tuning.md has its schema): one device, its records and verdicts.
/// Reading is checked like every file: ModelError names the file and the key. Returns the device.
MORTON_FOR_TOOLS TunedDevice read_tuning(const Json& json, const std::string& file,
                                         TunedData& data);
MORTON_FOR_TOOLS TunedDevice read_tuning_file(const std::filesystem::path& path, TunedData& data);
/// The devices' parts of tuning data that a user gives: the file itself, or each device's part of
/// what `morton cache export` wrote.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<JsonReader> tuning_parts(const JsonReader& reader);
/// All of such a file.
void read_given_tuning(const std::filesystem::path& path, TunedData& data);
/// Every .json file of the cache's folder in the order of their names; none where there is no
/// folder. A ModelError also says how to be rid of a damaged one.
MORTON_FOR_TOOLS void read_kept_tuning(const std::filesystem::path& folder, TunedData& data);
/// Those built into the library, or of the folder `tuned` in MORTON_KERNEL_DIR when that is set.
MORTON_FOR_TOOLS void read_shipped_tuning(TunedData& data);
/// One of them, or of another folder beside the kernels ("boards/g610.json"); nothing where there
/// is none.
void read_shipped_file(const std::string& name, TunedData& data);

/// What `data` knows of this very device, as a file's text.
[[nodiscard]] std::string print_tuning(const TunedDevice& device, const TunedData& data);

/// Parts that other files (journals, messages between processes) have in common with these.
[[nodiscard]] MORTON_FOR_TOOLS Json to_json(const TunedRecord& record);
[[nodiscard]] MORTON_FOR_TOOLS TunedRecord tuned_record_from(const JsonReader& reader,
                                                             const TunedDevice& device);
[[nodiscard]] MORTON_FOR_TOOLS Json to_json(const TunedProblem& problem);
[[nodiscard]] MORTON_FOR_TOOLS TunedProblem tuned_problem_from(const JsonReader& reader);
/// {"TILE_M": 8}.
[[nodiscard]] MORTON_FOR_TOOLS Environment environment_from(const JsonReader& reader);

}  // namespace morton::plan
