// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/cache.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/options.hpp"
#include "common/output.hpp"

namespace morton::cli {
namespace {

constexpr const char* kCacheFooter = R"(Examples:
  morton cache list
  morton cache clear tuning
  morton cache clear self-test             # kernels are tried anew
  morton cache export -o tuning.json       # on one machine
  morton cache import tuning.json          # on another)";

struct CacheArguments {
  std::string cache_dir, part = "all", path;
  Format format = Format::table;
};

int list(const CacheArguments& options) {
  const CacheContent content = cache_content(options.cache_dir);
  Json tuning = Json::array();
  if (!content.missing.empty() && for_people(options.format)) {
    emit(fmt::format("{}\nempty: {}\n", content.folder, content.missing), "");
    return 0;
  }
  std::string text = fmt::format(
      "{}\nprograms: {}, {}\nplans: {}, {} (default limit of both: {})\n", content.folder,
      content.programs, bytes_text(content.program_bytes), content.plans,
      bytes_text(content.plan_bytes), bytes_text(DeviceConfig().cache_limit_bytes));
  for (const CachedTuning& one : content.tuning) {
    text += fmt::format("tuning: {}: {} records, {} refused, {} costs by its compiler ({})\n",
                        one.device, one.records, one.refused, one.static_costs, one.file);
    tuning.push_back({{"device", one.device},
                      {"records", one.records},
                      {"refused", one.refused},
                      {"static", one.static_costs},
                      {"file", one.file}});
  }
  Json self_tests = Json::array();
  for (const CachedSelfTest& one : content.self_tests) {
    text += fmt::format("self-test: {}: {} kernels right, {} refused ({})\n", one.device, one.right,
                        one.refused.size(), one.file);
    for (const std::string& refused : one.refused) text += fmt::format("  refused: {}\n", refused);
    self_tests.push_back({{"device", one.device},
                          {"right", one.right},
                          {"refused", one.refused},
                          {"file", one.file}});
  }
  for (const std::string& problem : content.problems) {
    text += fmt::format("damaged: {}\n", problem);
  }
  if (content.journals > 0) text += fmt::format("unfinished tuning: {}\n", content.journals);
  const Json json = {{"folder", content.folder},
                     {"missing", content.missing},
                     {"programs", content.programs},
                     {"program_bytes", content.program_bytes},
                     {"plans", content.plans},
                     {"plan_bytes", content.plan_bytes},
                     {"tuning", tuning},
                     {"journals", content.journals},
                     {"self_tests", self_tests},
                     {"damaged", content.problems}};
  emit(for_people(options.format) ? text : to_text(json, options.format), "");
  return 0;
}

int clear(const CacheArguments& options) {
  const CachePart part = options.part == "programs"    ? CachePart::programs
                         : options.part == "plans"     ? CachePart::plans
                         : options.part == "tuning"    ? CachePart::tuning
                         : options.part == "self-test" ? CachePart::self_test
                                                       : CachePart::all;
  emit(fmt::format("removed {} files\n", clear_cache(options.cache_dir, part)), "");
  return 0;
}

int export_all(const CacheArguments& options) {
  emit(export_tuning(options.cache_dir), options.path);
  return 0;
}

int import_all(const CacheArguments& options) {
  const auto records = import_tuning(options.cache_dir, read_text(options.path), options.path);
  emit(fmt::format("imported {} records\n", records), "");
  return 0;
}

CLI::App* add_part(CLI::App& command, const char* name, const char* what, CacheArguments& options) {
  CLI::App* part = command.add_subcommand(name, what);
  part->add_option("--cache-dir", options.cache_dir,
                   "Cache folder (default: $MORTON_CACHE_DIR, else ~/.cache/morton)")
      ->option_text("FOLDER");
  return part;
}

}  // namespace

void add_cache(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("cache", "List, clear, export or import built kernels and tuning data");
  command->footer(kCacheFooter);
  command->require_subcommand(1);
  auto options = std::make_shared<CacheArguments>();
  CLI::App* listing = add_part(*command, "list", "List its contents", *options);
  add_format(*listing, options->format, {{"table", Format::table}, {"json", Format::json}});
  listing->callback([options, &chosen] { chosen = [options] { return list(*options); }; });
  CLI::App* clearing = add_part(*command, "clear", "Remove its contents", *options);
  clearing
      ->add_option("part", options->part, "programs, plans, tuning, self-test or all (the default)")
      ->check(one_of(std::vector<std::string>{"programs", "plans", "tuning", "self-test", "all"}))
      ->option_text("PART");
  clearing->callback([options, &chosen] { chosen = [options] { return clear(*options); }; });
  CLI::App* exporting = add_part(*command, "export", "Write the tuning data to one file", *options);
  exporting->add_option("-o,--output", options->path, "The file, instead of standard output")
      ->option_text("FILE")
      ->check(writable_file());
  exporting->callback([options, &chosen] { chosen = [options] { return export_all(*options); }; });
  CLI::App* importing = add_part(*command, "import", "Add tuning data from a file", *options);
  importing->add_option("file", options->path, "A file of `cache export` or of `tune -o`")
      ->option_text("FILE")
      ->required();
  importing->callback([options, &chosen] { chosen = [options] { return import_all(*options); }; });
}

}  // namespace morton::cli
