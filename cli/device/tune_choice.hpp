// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "device/tune_report.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// Where a model's tuning keeps what it found until the network was measured with it: a file beside
/// the journals, the same for the same `job`, so that a run that was killed finds it again. Throws
/// UsageError where no cache folder is known or it cannot be written.
[[nodiscard]] std::filesystem::path findings_file(const std::string& cache_dir,
                                                  const std::string& job);

/// The tuning file's text with the records of these kernels alone; a kernel of batches counts as
/// the one that it repeats. Verdicts stay: they are true of any plan.
[[nodiscard]] std::string findings_of(const std::string& text,
                                      const std::set<std::string>& kernels);

/// A session of the model, compiled with what is known of its kernels now, its inputs zeros.
[[nodiscard]] Session zero_session(const Model& model, const Device& device,
                                   const CompileOptions& options);

/// Both in turns, for about a second or three runs.
[[nodiscard]] NetworkTimes compare_networks(Session& before, Session& after,
                                            const TuneReport& report);

/// A part of what was found, and the network with it.
struct TunedNetwork {
  std::string records;  ///< as a tuning file's text
  NetworkTimes times;
};

/// What is kept of the findings in `file`: all, or those of the kernels that the plan had before,
/// whichever makes the network quicker; nothing where it is slower than before by more than 1 %, as
/// two measurements of one network differ. Measured values and first guesses of different
/// kernels are not quite comparable, so the last word is a measurement of the whole network.
[[nodiscard]] std::optional<TunedNetwork> quickest_network(const Model& model, const Device& device,
                                                           const CompileOptions& with,
                                                           Session& before,
                                                           const TuneReport& report,
                                                           const std::filesystem::path& file);

}  // namespace morton::cli
