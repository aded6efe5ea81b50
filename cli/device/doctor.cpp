// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/machine.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "morton/compile.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kDoctorFooter =
    R"(Checks the OpenCL loader, its drivers, permissions, the kernel cache, and whether a tiny kernel
computes the right answer on each device. Every failed check prints how to mend it. Where all is
well it builds the generic kernels, with which any model answers at once, and keeps them in the
cache folder.

Exit status: 0 all is well, 1 a check failed, 4 there is no device to use.

Examples:
  morton doctor
  morton doctor --format json)";

constexpr int kNoDeviceStatus = 4;

const char* word_of(DoctorCheck::Outcome outcome) {
  switch (outcome) {
    case DoctorCheck::Outcome::ok:
      return "ok";
    case DoctorCheck::Outcome::failed:
      return "failed";
    case DoctorCheck::Outcome::skipped:
      break;
  }
  return "skipped";
}

std::string text_of(const std::vector<DoctorCheck>& checks, const Terminal& terminal) {
  std::string text;
  for (const DoctorCheck& check : checks) {
    const Colour colour = check.outcome == DoctorCheck::Outcome::ok       ? Colour::green
                          : check.outcome == DoctorCheck::Outcome::failed ? Colour::red
                                                                          : Colour::yellow;
    const std::string word = fmt::format("{:7}", word_of(check.outcome));
    text += fmt::format("{}  {}: {}\n", coloured(terminal, colour, word), check.name, check.detail);
    if (!check.fix.empty()) text += fmt::format("         fix: {}\n", check.fix);
  }
  return text;
}

Json json_of(const std::vector<DoctorCheck>& checks) {
  Json list = Json::array();
  for (const DoctorCheck& check : checks) {
    list.push_back({{"outcome", word_of(check.outcome)},
                    {"name", check.name},
                    {"detail", check.detail},
                    {"fix", check.fix}});
  }
  return list;
}

bool any_device() {
  try {
    return !Device::list_json().empty();
  } catch (const DeviceError&) {
    return false;
  }
}

bool any_failed(const std::vector<DoctorCheck>& checks) {
  return std::ranges::any_of(checks, [](const DoctorCheck& check) {
    return check.outcome == DoctorCheck::Outcome::failed;
  });
}

/// Builds what the first answer of any model needs on each device, where all else is well.
void add_generic_kernels(const DeviceConfig& config, std::vector<DoctorCheck>& checks) {
  if (!any_device()) return;
  if (any_failed(checks)) {
    checks.push_back({"generic kernels", DoctorCheck::Outcome::skipped,
                      "they are built where all checks above are well", ""});
    return;
  }
  for (const std::string& facts : Device::list_json(config)) {
    const std::string id = Json::parse(facts).at("id");
    DoctorCheck check{"generic kernels, device " + id, DoctorCheck::Outcome::ok, "", ""};
    try {
      const CompileReport::Kernels kernels = prepare_interim_kernels(Device::open(id, config));
      const int known = kernels.from_memory + kernels.from_disk + kernels.built;
      if (known == 0) check.outcome = DoctorCheck::Outcome::skipped;
      check.detail = known == 0
                         ? "no cache folder would keep them"
                         : fmt::format("{} from cache, {} built: any model answers at once",
                                       kernels.from_memory + kernels.from_disk, kernels.built);
    } catch (const Error& error) {
      check.outcome = DoctorCheck::Outcome::failed;
      check.detail = with_options(error.message());
      check.fix = "`morton run MODEL --start ready` does without them";
    }
    checks.push_back(std::move(check));
  }
}

int examine(const DeviceOptions& device, const ResultOptions& result) {
  prepare_drivers();
  std::vector<DoctorCheck> checks = run_doctor(device_config(device));
  add_generic_kernels(device_config(device), checks);
  const Terminal terminal = result.path.empty() ? terminal_of(STDOUT_FILENO) : Terminal{};
  emit(for_people(result.format) ? text_of(checks, terminal)
                                 : to_text(json_of(checks), result.format),
       result.path);
  if (!any_device()) return kNoDeviceStatus;
  return any_failed(checks) ? kCheckFailed : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("doctor", "Find out why no device is found or usable");
  command->footer(kDoctorFooter);
  struct Options {
    DeviceOptions device;
    ResultOptions result;
  };
  auto options = std::make_shared<Options>();
  command->add_option("--cache-dir", options->device.cache_dir, "Folder of built kernels to check")
      ->option_text("FOLDER");
  add_options(*command, options->result, {{"table", Format::table}, {"json", Format::json}});
  command->callback([options, &chosen] {
    chosen = [options] { return examine(options->device, options->result); };
  });
}

}  // namespace morton::cli
