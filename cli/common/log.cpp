// SPDX-License-Identifier: Apache-2.0
#include "common/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/terminal.hpp"

namespace morton::cli {
namespace {

/// What stands before a message, by its level.
class LevelPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    std::string_view prefix;
    if (message.level == spdlog::level::warn) prefix = "warning: ";
    if (message.level >= spdlog::level::err) prefix = "error: ";
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelPrefix>();
  }
};

spdlog::level::level_enum level_of(log::Level level) {
  switch (level) {
    case log::Level::debug:
      return spdlog::level::debug;
    case log::Level::info:
      return spdlog::level::info;
    case log::Level::warning:
      return spdlog::level::warn;
    case log::Level::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

bool log::shows(Level level) { return spdlog::should_log(level_of(level)); }

void log::write(Level level, const std::string& message) {
  spdlog::log(level_of(level), "{}", message);
}

void start_log(Verbosity verbosity) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  sink->set_color_mode(terminal_of(STDERR_FILENO).colour ? spdlog::color_mode::always
                                                         : spdlog::color_mode::never);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelPrefix>('*').set_pattern("%^%*%$%v");
  sink->set_formatter(std::move(formatter));
  auto logger = std::make_shared<spdlog::logger>("morton", std::move(sink));
  switch (verbosity) {
    case Verbosity::quiet:
      logger->set_level(spdlog::level::warn);
      break;
    case Verbosity::normal:
      logger->set_level(spdlog::level::info);
      break;
    case Verbosity::verbose:
      logger->set_level(spdlog::level::debug);
      break;
  }
  spdlog::set_default_logger(std::move(logger));
}

void print_error(const std::string& message, const std::string& hint) {
  std::fflush(stdout);
  std::istringstream lines(message);
  std::string line;
  std::getline(lines, line);
  const Terminal terminal = terminal_of(STDERR_FILENO);
  std::string text = coloured(terminal, Colour::red, "morton:") + " " + line + "\n";
  while (std::getline(lines, line)) text += "  " + line + "\n";
  if (!hint.empty()) text += "  " + hint + "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace morton::cli
