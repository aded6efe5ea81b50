// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/bench_report.hpp"

namespace morton::cli {

[[nodiscard]] bool is_kernel(const Contender& contender);

/// What is known of the kernel of that name; null where there is none, as for peers.
[[nodiscard]] const KernelInfo* find_info(const std::vector<KernelInfo>& kernels,
                                          const std::string& name);

/// Values of the tunables of that kernel, where it is one of the contender's steps.
[[nodiscard]] std::map<std::string, std::int64_t> tunables_of(const Contender::About& about,
                                                              const std::string& kernel);

/// How many times as fast as the contender ours is.
[[nodiscard]] double ratio_of(const Contender& contender, const Contender& ours);

/// Quickest first, by the time of the computing steps where it is known.
void sort_by_speed(Field& field);

/// The contender that peers are compared with: the quickest kernel; null without any.
[[nodiscard]] const Contender* ours_of(const Field& field);

/// Figures above what the device can do by the peak of the same run, one line each; such a figure
/// or the peak is wrong.
[[nodiscard]] std::vector<std::string> above_peak(const Field& field, const Setting& setting);

}  // namespace morton::cli
