// SPDX-License-Identifier: Apache-2.0
#include "source/joined.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "source/instance_writer.hpp"

namespace morton::source {
namespace {

constexpr std::string_view kKernel = "__kernel ";

/// How the joined kernel calls its argument.
std::string name_in_kernel(const InstanceArgument& argument) {
  return fmt::format("m{}_{}", argument.member, argument.name);
}

/// Members that have the same text, one behind the other.
struct Run {
  std::size_t first = 0, end = 0;  ///< members
  InstanceSource part;
};

class TextMerger {
 public:
  explicit TextMerger(const std::vector<InstanceSpec>& members) : members_(members) {
    std::vector<std::string> keys;
    for (const InstanceSpec& member : members) keys.push_back(generate(member).key);
    std::string all = "joined";
    for (const std::string& key : keys) all += "\n" + key;
    joined_.key = digest_of(all);
    joined_.function = "joined_" + joined_.key.substr(0, 12);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0 && keys[i] == keys[i - 1]) {
        runs_.back().end = i + 1;
      } else {
        runs_.push_back({i, i + 1, generate_part(members[i], joined_.function)});
      }
    }
  }

  InstanceSource run() {
    for (const Run& part : runs_) {
      joined_.text += part.part.text;
      for (std::size_t i = part.first; i < part.end; ++i) add_arguments(part.part, i);
    }
    std::string list;
    for (const InstanceArgument& argument : joined_.arguments) {
      list +=
          fmt::format("{}{} {}", list.empty() ? "" : ", ", argument.type, name_in_kernel(argument));
    }
    joined_.text += fmt::format(
        "#line 1 \"joined, generated\"\n"
        "__kernel __attribute__((reqd_work_group_size({}, 1, 1))) void {}({}) {{\n"
        "  const int group = (int)get_group_id(0);\n",
        members_.front().local.front(), joined_.function, list);
    for (const Run& part : runs_) add_call(part);
    joined_.text += "}\n";
    return std::move(joined_);
  }

 private:
  void add_arguments(const InstanceSource& part, std::size_t member) {
    const auto add = [&](InstanceArgument argument) {
      argument.member = static_cast<int>(member);
      joined_.arguments.push_back(std::move(argument));
    };
    for (const InstanceArgument& argument : part.arguments) add(argument);
    for (const char* name : {kEndArgument, kGroupsArguments[0], kGroupsArguments[1]}) {
      add({InstanceArgument::Kind::integer, name, "int"});
    }
  }

  /// The run's work-groups take the arguments of their member, then all call the one function.
  void add_call(const Run& run) {
    std::string& text = joined_.text;
    const bool is_last = run.end == members_.size();
    const std::string condition = fmt::format("if (group < m{}_{}) ", run.end - 1, kEndArgument);
    text += fmt::format("  {}{}{{\n", run.first == 0 ? "" : "else ", is_last ? "" : condition);
    std::vector<std::string> names{kGroupsArguments[0], kGroupsArguments[1]};
    std::vector<std::string> types{"int", "int"};
    std::string call;
    for (const InstanceArgument& argument : run.part.arguments) {
      names.push_back(argument.name);
      types.push_back(argument.type);
      call += argument.name + ", ";
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += fmt::format("    {} {} = m{}_{};\n", types[i], names[i], run.first, names[i]);
    }
    text += fmt::format("    int begin = {};\n", begin_of(run.first));
    for (std::size_t member = run.first + 1; member < run.end; ++member) {
      text += fmt::format("    if (group >= {}) {{\n", begin_of(member));
      for (const std::string& name : names) {
        text += fmt::format("      {} = m{}_{};\n", name, member, name);
      }
      text += fmt::format("      begin = {};\n    }}\n", begin_of(member));
    }
    text += fmt::format(
        "    {}({}(group - begin) % groups0, (group - begin) / groups0, groups0, groups1);\n  }}\n",
        run.part.function, call);
  }

  /// Where the work-groups of a member begin.
  static std::string begin_of(std::size_t member) {
    return member == 0 ? "0" : fmt::format("m{}_{}", member - 1, kEndArgument);
  }

  const std::vector<InstanceSpec>& members_;
  std::vector<Run> runs_;
  InstanceSource joined_;
};

}  // namespace

bool can_join(const Entry& entry) {
  // A part's text is made by replacing the word, which a comment must not hold either.
  const std::size_t kernel = entry.program.source.find(kKernel);
  if (!entry.program.is_shared || kernel == std::string::npos ||
      entry.program.source.find(kKernel, kernel + 1) != std::string::npos ||
      entry.program.code.find("(ARGUMENTS)") == std::string::npos) {
    return false;
  }
  for (const char* word : {"__local", "barrier(", "get_global_offset", "get_work_dim"}) {
    if (entry.program.code.find(word) != std::string::npos) return false;
  }
  return true;
}

bool can_stack(const Entry& entry) {
  const std::string& code = entry.program.code;
  const std::size_t body = entry.program.source.find(kBeginOfBody);
  if (!entry.program.is_shared || entry.takes_work() || !entry.origin.batch_of.empty() ||
      body == std::string::npos ||
      entry.program.source.find(kBeginOfBody, body + 1) != std::string::npos ||
      code.find(kBeginOfBody) == std::string::npos) {
    return false;
  }
  return std::ranges::none_of(
      std::initializer_list<std::string_view>{"(2)", "get_global_offset", "get_work_dim"},
      [&](std::string_view word) { return code.find(word) != std::string::npos; });
}

InstanceSource generate_joined(const std::vector<InstanceSpec>& members) {
  if (members.size() < 2) throw InternalError("source: a joined kernel has at least two members");
  return TextMerger(members).run();
}

}  // namespace morton::source
