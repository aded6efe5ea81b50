// SPDX-License-Identifier: Apache-2.0
#include "bench/figures.hpp"

#include <algorithm>

namespace morton::cli {
namespace {

Figure figure_of(const std::vector<double>& samples_ms, const Contender& contender,
                 const Setting& setting) {
  const SingleProblem& problem = setting.problem;
  Figure figure;
  figure.ms = statistics_of(samples_ms);
  figure.gflops = problem.flop / (figure.ms.p50 * 1e6);
  figure.best_gflops = problem.flop / (figure.ms.min * 1e6);
  figure.gigabytes_per_second = problem.bytes / (figure.ms.p50 * 1e6);
  if (contender.about().kind == Contender::Kind::peer && !contender.about().bounded_by_peak) {
    return figure;  // another processor's arithmetic
  }
  figure.share = figure.gflops / median_of(setting.peak_gflops);
  figure.best_share = figure.best_gflops / std::ranges::max(setting.peak_gflops);
  return figure;
}

}  // namespace

Figures figures_of(const Contender& contender, const Setting& setting) {
  const Samples& samples = contender.samples();
  Figures figures;
  figures.call = figure_of(samples.call, contender, setting);
  if (!samples.alone.empty()) {
    figures.alone = figure_of(samples.alone, contender, setting);
  } else if (contender.about().kind == Contender::Kind::kernel) {
    figures.alone = figures.call;  // nothing is packed
  }
  // A clock that answered at times only says nothing.
  if (samples.device.size() == samples.call.size()) {
    figures.device = figure_of(samples.device, contender, setting);
  }
  figures.wait_ms = std::max(0.0, median_of(samples.waited) - figures.call.ms.p50);
  return figures;
}

}  // namespace morton::cli
