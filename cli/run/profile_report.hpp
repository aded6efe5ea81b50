// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/output.hpp"
#include "run/profile_measure.hpp"

namespace morton::cli {

/// What was profiled, and where.
struct ProfileSetting {
  std::string model;   ///< its file
  std::string inputs;  ///< "input 1x1x32x32"
  std::string precision;
  std::string device;        ///< its description
  std::string device_facts;  ///< Device::json()
  RooflinePeaks peaks;
};

/// One row for each step: its times, its work, its rates.
[[nodiscard]] Table steps_table(const Profile& profile);
/// One row for each step: how its operands lie.
[[nodiscard]] Table formats_table(const Profile& profile);
/// One row for each call of a library's routine; none where no step calls any.
[[nodiscard]] Table routines_table(const Profile& profile);
/// Whole runs by each clock.
[[nodiscard]] Table sums_table(const Profile& profile);
/// What the steps and their launches make of the whole run, in a sentence or two; empty where the
/// device has no clock.
[[nodiscard]] std::string accounted_text(const Profile& profile, const RooflinePeaks& peaks);

/// The whole report: for people, or as JSON; csv has one record for each step.
[[nodiscard]] std::string report_of(const Profile& profile, const ProfileSetting& setting,
                                    Format format);

/// The steps alone, as --layers writes them: Format::csv or json.
[[nodiscard]] std::string layers_of(const Profile& profile, Format format);

/// The fastest measured run for Perfetto and chrome://tracing (the Trace Event Format's JSON): a
/// track with what the host enqueued on its clock, and one with what the device did on its own,
/// which is laid beside the host's by the moment at which the first step was enqueued
/// (ClockPair).
[[nodiscard]] std::string trace_of(const Profile& profile, const ProfileSetting& setting);

}  // namespace morton::cli
