// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/probe.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "device/probe_names.hpp"
#include "device/probe_page.hpp"
#include "device/probe_report.hpp"
#include "device/probe_section.hpp"
#include "morton/error.hpp"
#include "pages/svg_file.hpp"

namespace morton::cli {
namespace {

constexpr const char* kProbeFooter =
    R"(Figures are medians of several samples, with the best in brackets. Each was checked by its sums or
bytes. Let nothing else run meanwhile. The best rates and the median of a launch are kept as the device's
roofline peaks. `plan` estimates with them, `profile` compares with them, and `morton devices` shows
which devices have them.

--what names other probes, with commas between them. Only `peaks` keeps anything.
  peaks        arithmetic, memory, transfers and launches (the default)
  order        in which order work-groups begin
  latency      loads that wait for each other, over footprint and stride, on the device and the host
  intensity    throughput over operations a byte, in f32, f16, i32 and i8
  copies       to the device, from it and within it, by the driver and by a kernel
  work-groups  a stream and a product with work-groups of several shapes
  images       reads of images beside buffers, by rows, columns and tiles
  all          all of them

With several probes, --svg puts the name of each before the ending of the file: probe-order.svg.

Examples:
  morton probe
  morton probe -d gpu --quick
  morton probe --format json -o probe.json
  morton probe --what order --svg order.svg
  morton probe --what latency,intensity --quick --format csv -o curves.csv
  morton probe --what all --quick
  morton probe --html probe.html)";

struct ProbeArguments {
  DeviceOptions device;
  ResultOptions result;
  std::string html;
  bool quick = false;
  std::vector<std::string> what{"peaks"};
  std::string groups, svg;  ///< empty: 33x33, and no picture
};

/// What a probe needs, and where it tells how far it is.
struct ProbeRun {
  const ProbeArguments& options;
  const Device& device;
  std::array<std::int64_t, 2> groups;  ///< of `order`
  ProbeOptions how;
};

/// Keeps the peaks; returns the file, or nothing where that cannot be.
std::string kept_file(const Device& device, const ProbeResult& result) {
  try {
    return keep_peaks(device, result);
  } catch (const Error& error) {
    // What was measured is worth printing all the same.
    log::warn("{}; nothing is kept: plans and profiles go on without these figures",
              message_of(error));
  }
  return {};
}

ProbeSection peaks_section(const ProbeRun& run) {
  const ProbeResult result = probe(run.device, run.how);
  for (const std::string& note : result.notes) log::info("{}", note);
  const std::string kept = kept_file(run.device, result);
  return {peaks_text(result, run.device, kept, run.options.result.format),
          peaks_json(result, run.device, kept),
          peaks_records(result),
          {},
          page_sections(result)};
}

ProbeSection order_section(const ProbeRun& run) {
  return section_of(probe_order(run.device, run.groups, run.how), run.options.result.format);
}

/// Throws before anything is measured.
std::array<std::int64_t, 2> groups_of(const ProbeArguments& options) {
  constexpr std::int64_t kMost = WorkGroupOrder::kMostGroups;
  const std::string& given = options.groups;
  const auto groups = parse_extents("--groups", given.empty() ? "33x33" : given, "33x33");
  const auto is_wrong = [](std::int64_t extent) { return extent < 1 || extent > kMost; };
  if (groups.size() != 2 || std::ranges::any_of(groups, is_wrong)) {
    throw UsageError(fmt::format(
        "--groups: expected two numbers of 1 to {}, such as 33x33, got '{}'", kMost, given));
  }
  return {groups[0], groups[1]};
}

/// Its JSON is a list, which has no place for notes: they are lines of the log there.
ProbeSection copies_section(const ProbeRun& run) {
  const MeasuredCopies found = probe_copies(run.device, run.how);
  const Format format = run.options.result.format;
  ProbeSection section = section_of(found.copies, format);
  for (const std::string& note : found.notes) {
    if (for_people(format)) {
      section.text += "\n" + note + "\n";
    } else {
      log::info("{}", note);
    }
  }
  return section;
}

/// A probe that has no options of its own.
template <auto measure>
ProbeSection plain_section(const ProbeRun& run) {
  return section_of(measure(run.device, run.how), run.options.result.format);
}

struct NamedProbe {
  const char* name;
  ProbeSection (*run)(const ProbeRun&);
};
constexpr NamedProbe kProbes[] = {
    {"peaks", peaks_section},
    {"order", order_section},
    {"latency", plain_section<probe_latency>},
    {"intensity", plain_section<probe_intensity>},
    {"copies", copies_section},
    {"work-groups", plain_section<probe_groups>},
    {"images", plain_section<probe_images>},
};

/// Those that were asked for, in the order of the list.
std::vector<NamedProbe> chosen_probes(const std::vector<std::string>& what) {
  const bool all = std::ranges::find(what, "all") != what.end();
  std::vector<NamedProbe> chosen;
  for (const NamedProbe& named : kProbes) {
    if (all || std::ranges::find(what, named.name) != what.end()) chosen.push_back(named);
  }
  return chosen;
}

std::string picture_path(const ProbeArguments& options, const std::string& name, bool alone) {
  if (alone) return options.svg;
  std::filesystem::path path = options.svg;
  path.replace_filename(path.stem().string() + "-" + name + path.extension().string());
  return path.string();
}

std::string whole_text(const std::vector<NamedProbe>& probes, std::vector<ProbeSection> sections,
                       const ProbeRun& run) {
  const Format format = run.options.result.format;
  const bool only_peaks = probes.size() == 1 && probes[0].run == peaks_section;
  if (for_people(format)) {
    std::string text = only_peaks ? "" : fmt::format("device {}\n", run.device.description());
    for (std::size_t i = 0; i < sections.size(); ++i) {
      text += (only_peaks ? "" : fmt::format("\n== {}\n\n", probes[i].name)) + sections[i].text;
    }
    return text;
  }
  if (format == Format::csv) {
    Json records = Json::array();
    for (const ProbeSection& section : sections) {
      records.insert(records.end(), section.records.begin(), section.records.end());
    }
    return to_text(records, format);
  }
  if (only_peaks) return to_text(sections[0].json, format);
  Json json{{"device", device_json(run.device)}, {"effort", name_of(run.how.effort)}};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::string key = probes[i].name;
    std::ranges::replace(key, '-', '_');
    json[key] = std::move(sections[i].json);
  }
  return to_text(json, format);
}

int run_probe(const ProbeArguments& options) {
  const std::vector<NamedProbe> probes = chosen_probes(options.what);
  const bool alone = probes.size() == 1;
  if (!options.svg.empty() && alone && probes[0].run == peaks_section) {
    throw UsageError("--svg: peaks have no picture; name another probe with --what");
  }
  refuse_same_file(
      {{"--svg", options.svg}, {"--html", options.html}, {"--output", options.result.path}});
  const bool orders = std::ranges::any_of(
      probes, [](const NamedProbe& named) { return named.run == order_section; });
  if (!options.groups.empty() && !orders) {
    throw UsageError(
        "--groups: the probe `order` alone reads it; name that too, with --what order");
  }
  const std::array<std::int64_t, 2> groups = groups_of(options);
  const Device device = open_device(options.device);
  ProbeRun run{options, device, groups, {}};
  run.how.effort = options.quick ? ProbeOptions::Effort::quick : ProbeOptions::Effort::full;
  std::vector<ProbeSection> sections;
  {
    Progress progress("measuring");
    run.how.progress = [&](const std::string& what, double fraction) {
      progress.relabel("measuring " + what);
      progress.update((static_cast<double>(sections.size()) + fraction) /
                      static_cast<double>(probes.size()));
    };
    for (const NamedProbe& named : probes) sections.push_back(named.run(run));
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (options.svg.empty() || sections[i].figures.empty()) continue;
    const std::string path = picture_path(options, probes[i].name, alone);
    emit(pages::svg_file(sections[i].figures), path);
    log::info("picture of {}: {}", probes[i].name, path);
  }
  if (!options.html.empty()) {
    std::vector<pages::Section> page;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (sections[i].page.empty()) page.push_back(page_section(probes[i].name, sections[i]));
      std::ranges::copy(sections[i].page, std::back_inserter(page));
    }
    emit(page_of(device, std::move(page)), options.html);
  }
  emit(whole_text(probes, std::move(sections), run), options.result.path);
  return 0;
}

std::vector<std::string> probe_names() {
  std::vector<std::string> names{"all"};
  for (const NamedProbe& named : kProbes) names.emplace_back(named.name);
  return names;
}

}  // namespace

void add_probe(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("probe", "Measure a device's roofline peaks, and keep them");
  command->footer(kProbeFooter);
  auto options = std::make_shared<ProbeArguments>();
  command->add_flag("--quick", options->quick, "Fewer widths, footprints and samples");
  command->add_option("--what", options->what, "Probes by name (peaks); see below")
      ->option_text("NAME,...")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(one_of(probe_names()));
  command->add_option("--groups", options->groups, "Work-groups of `order` (33x33)")
      ->option_text("MxN");
  command->add_option("--svg", options->svg, "Write a picture of each probe here")
      ->option_text("FILE")
      ->check(writable_file());
  command->add_option("--html", options->html, "Write a page for a browser, with pictures")
      ->option_text("FILE")
      ->check(writable_file());
  add_options(*command, options->device);
  add_options(*command, options->result, every_format());
  command->callback([options, &chosen] { chosen = [options] { return run_probe(*options); }; });
}

}  // namespace morton::cli
