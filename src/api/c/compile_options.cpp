// SPDX-License-Identifier: Apache-2.0
//
// Options of compiling by name, with values as texts.
#include "api/c/compile_options.hpp"

#include <charconv>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/text/near_names.hpp"

using namespace morton;
using namespace morton::api;

namespace {

/// An option and its value, as messages name them.
struct GivenOption {
  std::string name, value;
  [[noreturn]] void refuse(const std::string& expected) const {
    throw UsageError(setting(name, value) + ": expected " + expected);
  }
};

std::int64_t whole_number(const GivenOption& given, std::string_view text, const char* expected) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || rest != end || number < 0) given.refuse(expected);
  return number;
}

double real_number(const GivenOption& given, const char* expected) {
  double number = 0.0;
  const char* const end = given.value.data() + given.value.size();
  const auto [rest, problem] = std::from_chars(given.value.data(), end, number);
  if (problem != std::errc() || rest != end) given.refuse(expected);
  return number;
}

/// What stands before and behind the mark, neither of them empty.
std::pair<std::string, std::string> parts(const GivenOption& given, std::size_t mark,
                                          const char* expected) {
  if (mark == std::string::npos || mark == 0 || mark + 1 == given.value.size()) {
    given.refuse(expected);
  }
  return {given.value.substr(0, mark), given.value.substr(mark + 1)};
}

Shape extents_of(const GivenOption& given, const std::string& text, const char* expected) {
  Shape shape;
  std::size_t start = 0;
  for (std::size_t end = 0; end != std::string::npos; start = end + 1) {
    end = text.find('x', start);
    shape.push_back(
        whole_number(given, std::string_view(text).substr(start, end - start), expected));
  }
  return shape;
}

void set_pair(std::map<std::string, std::string>& to, const GivenOption& given,
              const char* expected) {
  auto [key, value] = parts(given, given.value.find('='), expected);
  to.insert_or_assign(std::move(key), std::move(value));
}

void set_tunable(CompileOptions& options, const GivenOption& given) {
  constexpr const char* kExpected = "KERNEL:TUNABLE=VALUE, such as gemm.tile:TILE_M=8";
  const auto [kernel, rest] = parts(given, given.value.find(':'), kExpected);
  const std::size_t equals = rest.find('=');
  if (equals == std::string::npos || equals == 0) given.refuse(kExpected);
  const std::int64_t value =
      whole_number(given, std::string_view(rest).substr(equals + 1), kExpected);
  options.tunables[kernel][rest.substr(0, equals)] = value;
}

/// The enumerator that the text names.
template <typename Enum, std::size_t kCount>
void set_choice(Enum& to, const GivenOption& given,
                const std::pair<const char*, Enum> (&choices)[kCount]) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (given.value == name) {
      to = value;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  given.refuse("one of " + known);
}

/// The type that the text names; UsageError names the option too.
DType precision_of(const GivenOption& given) {
  try {
    return parse_dtype(given.value);
  } catch (const UsageError& error) {
    throw UsageError(setting(given.name, given.value) + ": " + error.message());
  }
}

struct SettableOption {
  std::string_view name;
  void (*set)(CompileOptions& options, const GivenOption& given);
};

using Options = CompileOptions;

constexpr SettableOption kSettable[] = {
    {"batch", [](Options& o,
                 const GivenOption& g) { o.batch = whole_number(g, g.value, "a whole number"); }},
    {"shapes",
     [](Options& o, const GivenOption& g) {
       constexpr const char* kExpected = "INPUT:EXTENTS, such as input:1x3x224x224";
       // Names of tensors may hold colons; extents do not.
       const auto [input, extents] = parts(g, g.value.rfind(':'), kExpected);
       o.shapes.insert_or_assign(input, extents_of(g, extents, kExpected));
     }},
    {"feeds",
     [](Options& o, const GivenOption& g) {
       set_pair(o.feeds, g, "OUTPUT=INPUT, such as present=past");
     }},
    {"use",
     [](Options& o, const GivenOption& g) {
       set_pair(o.use, g, "FAMILY=KERNEL, such as gemm=gemm.naive");
     }},
    {"exclude", [](Options& o, const GivenOption& g) { o.exclude.push_back(g.value); }},
    {"local",
     [](Options& o, const GivenOption& g) {
       o.local = extents_of(g, g.value, "a work-group's extents, such as 4x16");
     }},
    {"tunables", set_tunable},
    {"tuning",
     [](Options& o, const GivenOption& g) {
       set_choice(o.tuning, g,
                  {{"use", Options::Tuning::use}, {"ignore", Options::Tuning::ignore}});
     }},
    {"tuning_files", [](Options& o, const GivenOption& g) { o.tuning_files.push_back(g.value); }},
    {"cache_dir", [](Options& o, const GivenOption& g) { o.cache_dir = g.value; }},
    {"precision", [](Options& o, const GivenOption& g) { o.precision.operands = precision_of(g); }},
    {"sums", [](Options& o, const GivenOption& g) { o.precision.sums = precision_of(g); }},
    {"workspace_limit_bytes",
     [](Options& o, const GivenOption& g) {
       o.limits.workspace_bytes = whole_number(g, g.value, "a number of bytes");
     }},
    {"weight_limit_bytes",
     [](Options& o, const GivenOption& g) {
       o.limits.weight_bytes = whole_number(g, g.value, "a number of bytes");
     }},
    {"max_kernel_ms",
     [](Options& o, const GivenOption& g) {
       o.limits.kernel_ms = real_number(g, "a number of milliseconds");
     }},
    {"skip_passes", [](Options& o, const GivenOption& g) { o.skip_passes.push_back(g.value); }},
    {"catalogue_files",
     [](Options& o, const GivenOption& g) { o.catalogue_files.push_back(g.value); }},
    {"launches",
     [](Options& o, const GivenOption& g) {
       set_choice(o.launches, g,
                  {{"automatic", JoinedLaunches::automatic},
                   {"apart", JoinedLaunches::apart},
                   {"joined", JoinedLaunches::joined}});
     }},
    {"other_shapes",
     [](Options& o, const GivenOption& g) {
       set_choice(
           o.other_shapes, g,
           {{"prepare", Options::OtherShapes::prepare}, {"leave", Options::OtherShapes::leave}});
     }},
    {"self_test",
     [](Options& o, const GivenOption& g) {
       set_choice(o.self_test, g,
                  {{"once", Options::SelfTest::once}, {"off", Options::SelfTest::off}});
     }},
    {"start",
     [](Options& o, const GivenOption& g) {
       set_choice(o.start, g,
                  {{"ready", Options::Start::ready},
                   {"at_once", Options::Start::at_once},
                   {"interim_alone", Options::Start::interim_alone}});
     }},
    {"fallback",
     [](Options& o, const GivenOption& g) {
       set_choice(o.fallback, g,
                  {{"report", Options::Fallback::report}, {"refuse", Options::Fallback::refuse}});
     }},
    {"unkept",
     [](Options& o, const GivenOption& g) {
       set_choice(o.unkept, g,
                  {{"report", Options::Unkept::report}, {"refuse", Options::Unkept::refuse}});
     }},
};

[[noreturn]] void refuse_unknown(const std::string& name) {
  std::string known;
  std::vector<std::string_view> names;
  for (const SettableOption& option : kSettable) {
    known += (known.empty() ? "" : ", ") + std::string(option.name);
    names.push_back(option.name);
  }
  const auto near = near_names(name, names);
  const std::string meant = near.empty() ? "." : "; did you mean '" + near.front() + "'?";
  throw UsageError(setting(name) + ": there is no such option of compiling" + meant +
                   " There are " + known);
}

}  // namespace

void morton::api::set_compile_option(CompileOptions& options, const std::string& name,
                                     const std::string& value) {
  for (const SettableOption& option : kSettable) {
    if (option.name == name) return option.set(options, {name, value});
  }
  refuse_unknown(name);
}
