// SPDX-License-Identifier: Apache-2.0
#include "train/train_line.hpp"

#include <unistd.h>

#include <cstdio>

#include "common/log.hpp"
#include "train/train_text.hpp"

namespace morton::cli {
TrainLine::TrainLine()
    : terminal_(terminal_of(STDERR_FILENO)), enabled_(log::shows(log::Level::info)) {}

void TrainLine::clear() {
  if (!visible_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

void TrainLine::update(const TrainingProgress& progress) {
  if (!enabled_) return;
  const bool lasting = progress.batch == progress.batches || progress.validation_loss ||
                       progress.step == progress.steps;
  if (lasting) {
    clear();
    log::info("{}", lasting_line(progress));
    return;
  }
  if (!terminal_.interactive || (shown_ && shown_->milliseconds() < 200.0)) return;
  shown_.emplace();
  visible_ = true;
  const std::string line = moving_line(progress);
  const auto width = static_cast<std::size_t>(terminal_.width > 1 ? terminal_.width - 1 : 1);
  std::fprintf(stderr, "\r%s\033[K", line.substr(0, width).c_str());
  std::fflush(stderr);
}

}  // namespace morton::cli
