// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/peak.hpp"

#include "api/inside.hpp"
#include "device/probe/peak.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr double kSampleMs = 20.0;
/// Widths are compared by the best of some short runs.
constexpr double kTrialMs = 5.0;
constexpr int kTrials = 3;

}  // namespace

struct PeakProbe::State {
  PeakKernel kernel;
};

PeakProbe::PeakProbe(const Device& device) {
  double best = 0.0;
  for (const int width : {1, 2, 4, 8, 16}) {
    PeakKernel kernel(Inside::of(device), width);
    double gflops = 0.0;
    for (int i = 0; i < kTrials; ++i) gflops = std::max(gflops, kernel.measure_gflops(kTrialMs));
    kernel.check_result();  // arithmetic that a driver leaves out would make a peak of any height
    if (gflops <= best) continue;
    best = gflops;
    state_ = std::make_unique<State>(State{std::move(kernel)});
  }
}

PeakProbe::PeakProbe(PeakProbe&&) noexcept = default;
PeakProbe& PeakProbe::operator=(PeakProbe&&) noexcept = default;
PeakProbe::~PeakProbe() = default;

double PeakProbe::sample_gflops() { return state_->kernel.measure_gflops(kSampleMs); }

std::string PeakProbe::description() const { return state_->kernel.description(); }

}  // namespace morton
