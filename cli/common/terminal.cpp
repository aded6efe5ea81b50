// SPDX-License-Identifier: Apache-2.0
#include "common/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/log.hpp"

namespace morton::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int width_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int columns = std::atoi(environment("COLUMNS").c_str());
  return columns > 0 ? columns : 80;
}

}  // namespace

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.interactive = isatty(descriptor) == 1;
  terminal.colour =
      terminal.interactive && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  terminal.utf8 = locale_is_utf8();
  terminal.width = width_of(descriptor);
  return terminal;
}

std::string coloured(const Terminal& terminal, Colour colour, std::string_view text) {
  if (!terminal.colour) return std::string(text);
  const char* code = "1";
  switch (colour) {
    case Colour::red:
      code = "31";
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::bold:
      break;
  }
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::size_t characters_of(std::string_view text) {
  // Bytes 10xxxxxx continue a character.
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Progress::Progress(std::string label)
    : label_(std::move(label)),
      enabled_(terminal_of(STDERR_FILENO).interactive && log::shows(log::Level::info)) {}

Progress::~Progress() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void Progress::update(double fraction) {
  if (!enabled_) return;
  const double elapsed_s = whole_.milliseconds() / 1e3;
  if (elapsed_s < 2.0 || (visible_ && shown_.milliseconds() < 200.0)) return;
  shown_ = Stopwatch();
  visible_ = true;
  const double done = std::clamp(fraction, 0.001, 1.0);
  std::fprintf(stderr, "\r%s: %3.0f %%, %.0f s left\033[K", label_.c_str(), 100.0 * done,
               elapsed_s * (1.0 - done) / done);
  std::fflush(stderr);
}

}  // namespace morton::cli
