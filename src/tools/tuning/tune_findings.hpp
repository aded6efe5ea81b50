// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "morton/message.hpp"
#include "morton/tools/tune.hpp"
#include "tools/tuning/search.hpp"
#include "tools/tuning/tune_pair.hpp"

namespace morton::tools {

/// What a tuning job finds: kept in the device's tuning file and in the job's report.
class TuneFindings {
 public:
  /// Reads what is known of the device. `folder` is that of the tuning files. Throws where the
  /// result could not be stored, before the time is spent.
  TuneFindings(const TuneOptions& options, const std::filesystem::path& folder,
               const Catalogue& catalogue, TunedDevice device);

  /// The file that holds the result.
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const TunedDevice& device() const { return device_; }

  /// Gives the search the values that earlier jobs found refused on this device, which are not
  /// tried again. Returns why the last of them was refused; nothing where there is none.
  [[nodiscard]] Message recall_verdicts(const TunePair& pair, Search& search) const;
  /// Counts a candidate that an earlier process had tried.
  void recall(const TunePair& pair, const TrialRecord& trial);
  /// From now on no plan may use the trial's values of the pair's kernel.
  void refuse(const TunePair& pair, const TrialRecord& trial);
  /// Stores the pair's best values, with the verdicts that were found meanwhile.
  void keep(const TunePair& pair, const TunedRecord& record);
  /// Reports the pair's best values, which are stored.
  void report(const TunedRecord& record);
  /// Stores the verdicts, where the pair has no best values.
  void keep_verdicts(const TunePair& pair) { store(TunedData{}, pair); }
  /// Reports why the pair has none.
  void note(const TunePair& pair, const Message& why);
  /// Reports how many of the pairs the time did not reach.
  void note_left(std::size_t left, std::size_t all);

  [[nodiscard]] TuneReport finish() { return std::move(report_); }

 private:
  void store(TunedData found, const TunePair& pair);

  const TuneOptions& options_;
  const Catalogue& catalogue_;
  TunedDevice device_;
  std::filesystem::path file_;
  TunedData known_;
  std::vector<Verdict> fresh_verdicts_;
  TuneReport report_;
};

}  // namespace morton::tools
