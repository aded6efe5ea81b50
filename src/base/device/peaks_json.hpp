// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/files/json_reader.hpp"
#include "morton/roofline_peaks.hpp"

namespace morton {

// Parts of measured peaks as JSON has them. All that read throw ModelError naming the key.

/// A finite number that is not negative.
[[nodiscard]] double positive_or_zero(const JsonReader& reader);
/// Bandwidths of footprints, which must be positive and go up.
[[nodiscard]] std::vector<FootprintBandwidth> bandwidth_from(const JsonReader& reader);
/// Steps on the host: products whose operations must go up.
[[nodiscard]] HostPeaks host_from(const JsonReader& reader);

/// What these read. By members alone: the lists of nlohmann's JSON end the process where memory is
/// short.
[[nodiscard]] Json to_json(const std::vector<FootprintBandwidth>& list);
[[nodiscard]] Json to_json(const HostPeaks& host);

}  // namespace morton
