// SPDX-License-Identifier: Apache-2.0
#include "train/train_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace morton::cli {
namespace {

std::string measured(const char* name, double loss, const std::optional<double>& accuracy) {
  const std::string text = fmt::format("{} {}", name, loss_text(loss));
  return accuracy ? text + fmt::format(" ({})", percent_text(accuracy)) : text;
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

std::string loss_text(double loss) {
  const double size = std::fabs(loss);
  const bool plain = loss == 0.0 || !std::isfinite(loss) || (size >= 1e-3 && size < 1e5);
  return plain ? fmt::format("{:.4f}", loss) : fmt::format("{:.3e}", loss);
}

std::string moving_line(const TrainingProgress& progress) {
  return fmt::format("epoch {}/{}  batch {}/{}  {}  {:.0f} images/s  {} left", progress.epoch,
                     progress.epochs, progress.batch, progress.batches,
                     measured("loss", progress.loss, progress.accuracy), progress.images_per_second,
                     duration_text(progress.seconds_left));
}

std::string lasting_line(const TrainingProgress& progress) {
  std::string text = fmt::format("epoch {}/{}  step {}  {}", progress.epoch, progress.epochs,
                                 progress.step, measured("loss", progress.loss, progress.accuracy));
  if (progress.validation_loss) {
    text += "  " + measured("validation", *progress.validation_loss, progress.validation_accuracy);
  }
  return text + fmt::format("  {:.0f} images/s", progress.images_per_second);
}

}  // namespace morton::cli
