// SPDX-License-Identifier: Apache-2.0
#include "train_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "log.hpp"

namespace morton::cli {
namespace {

std::string measured(const char* name, double loss, const std::optional<double>& accuracy) {
  const std::string text = fmt::format("{} {:.4f}", name, loss);
  return accuracy ? text + fmt::format(" ({})", percent_text(accuracy)) : text;
}

/// What the line that changes says.
std::string moving_line(const TrainingProgress& progress) {
  return fmt::format("epoch {}/{}  batch {}/{}  {}  {:.0f} images/s  {} left", progress.epoch,
                     progress.epochs, progress.batch, progress.batches,
                     measured("loss", progress.loss, progress.accuracy), progress.images_per_second,
                     duration_text(progress.seconds_left));
}

/// What stays of an epoch, or of a look at the validation data.
std::string lasting_line(const TrainingProgress& progress) {
  std::string text = fmt::format("epoch {}/{}  step {}  {}", progress.epoch, progress.epochs,
                                 progress.step, measured("loss", progress.loss, progress.accuracy));
  if (progress.validation_loss) {
    text += "  " + measured("validation", *progress.validation_loss, progress.validation_accuracy);
  }
  return text + fmt::format("  {:.0f} images/s", progress.images_per_second);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string percent_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100.0 * *share) : "-";
}

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
  const Clock::time_point now = Clock::now();
  if (!terminal_.interactive || now - shown_ < std::chrono::milliseconds(200)) return;
  shown_ = now;
  visible_ = true;
  const std::string line = moving_line(progress);
  const auto width = static_cast<std::size_t>(terminal_.width > 1 ? terminal_.width - 1 : 1);
  std::fprintf(stderr, "\r%s\033[K", line.substr(0, width).c_str());
  std::fflush(stderr);
}

}  // namespace morton::cli
