// SPDX-License-Identifier: Apache-2.0
#include "train/stop_signals.hpp"

namespace morton::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

constexpr int kSignals[2] = {SIGINT, SIGTERM};

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  struct sigaction action {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  // Without the second, a write to disk that is under way would fail.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (int i = 0; i < 2; ++i) {
    ::sigaction(kSignals[i], &action, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

StopSignals::~StopSignals() {
  for (int i = 0; i < 2; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

int StopSignals::caught() const { return stop_signal; }

}  // namespace morton::cli
