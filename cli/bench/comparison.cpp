// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/figures.hpp"
#include "common/statistics.hpp"

namespace morton::cli {

bool is_kernel(const Contender& contender) {
  return contender.about().kind == Contender::Kind::kernel;
}

const KernelInfo* find_info(const std::vector<KernelInfo>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &KernelInfo::name);
  return found == kernels.end() ? nullptr : &*found;
}

std::map<std::string, std::int64_t> tunables_of(const Contender::About& about,
                                                const std::string& kernel) {
  const auto found = about.tunables.find(kernel);
  return found == about.tunables.end() ? std::map<std::string, std::int64_t>{} : found->second;
}

double ratio_of(const Contender& contender, const Contender& ours) {
  return median_of(contender.samples().call) / median_of(ours.samples().call);
}

void sort_by_speed(Field& field) {
  const auto time = [](const Contender& contender) {
    const Samples& samples = contender.samples();
    return median_of(samples.alone.empty() ? samples.call : samples.alone);
  };
  std::ranges::stable_sort(field.contenders,
                           [&](const auto& a, const auto& b) { return time(*a) < time(*b); });
}

const Contender* ours_of(const Field& field) {
  const Contender* ours = nullptr;
  for (const auto& contender : field.contenders) {
    if (!is_kernel(*contender)) continue;
    if (ours == nullptr || ratio_of(*contender, *ours) < 1.0) ours = contender.get();
  }
  return ours;
}

std::vector<std::string> above_peak(const Field& field, const Setting& setting) {
  std::vector<std::string> lines;
  for (const auto& contender : field.contenders) {
    if (!contender->about().bounded_by_peak) continue;
    const Figures figures = figures_of(*contender, setting);
    const auto look = [&](const Figure& figure, const char* what) {
      const double share = std::max(figure.share.value_or(0.0), figure.best_share.value_or(0.0));
      if (share <= kMostShare) return;
      lines.push_back(fmt::format(
          "{}, {}: {:.0f} % of the peak of the same run cannot be; the machine was disturbed, or "
          "a clock is wrong: measure again, with more samples (-n)",
          contender->name(), what, 100.0 * share));
    };
    look(figures.call, "calls");
    if (figures.alone && !contender->samples().alone.empty()) look(*figures.alone, "alone");
    if (figures.device) look(*figures.device, "device clock");
  }
  return lines;
}

}  // namespace morton::cli
