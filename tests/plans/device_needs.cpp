// SPDX-License-Identifier: Apache-2.0
#include "plans/device_needs.hpp"

#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "plan/ir/verify.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

constexpr const char* kClang = "clang-14";

bool is_embedded(const DeviceInfo& device) { return device.driver.profile == "EMBEDDED_PROFILE"; }

bool has_extension_of(const DeviceInfo& device, const std::string& name) {
  return (" " + device.features.extensions + " ").find(" " + name + " ") != std::string::npos;
}

/// Those of loading too.
std::vector<const Step*> launching_steps(const Plan& plan) {
  std::vector<const Step*> steps;
  for (const auto* some : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *some) {
      if (step.launch() != nullptr) steps.push_back(&step);
    }
  }
  return steps;
}

std::string why_no_image(const PlannedImage& image, const DeviceInfo& device) {
  if (!device.image.supported) return "an image";
  if (image.width > device.image.max_width || image.height > device.image.max_height) {
    return "an image of " + std::to_string(image.width) + " x " + std::to_string(image.height);
  }
  const bool is_shared = image.source == PlannedImage::Source::shared;
  return is_shared && !device.image.from_buffer ? "an image on a buffer" : "";
}

void note_arguments(const Step& step, const DeviceInfo& device, std::vector<std::string>& needs) {
  // What OpenCL 1.2 promises (CL_DEVICE_MAX_PARAMETER_SIZE).
  const std::int64_t most = is_embedded(device) ? 256 : 1024;
  std::int64_t bytes = 0;
  for (const StepArgument& argument : step.arguments) {
    const PassedValue* passed = argument.value();
    bytes += passed == nullptr ? 4 : 8;
    if (passed == nullptr || passed->image.source == PlannedImage::Source::none) continue;
    const std::string why = why_no_image(passed->image, device);
    if (!why.empty()) needs.push_back(step.name + " (" + step.kernel + ") needs " + why);
  }
  if (bytes > most) {
    needs.push_back(step.name + " (" + step.kernel + ") passes " + std::to_string(bytes) +
                    " bytes of arguments");
  }
}

/// "-cl-ext=-all,+cl_khr_fp16": of what clang knows.
std::string extensions_for_clang(const DeviceInfo& device) {
  std::istringstream names(device.features.extensions);
  std::string text = "-cl-ext=-all";
  for (std::string name; names >> name;) {
    if (name.starts_with("cl_khr_")) text += ",+" + name;
  }
  return text;
}

/// Loads of halves as floats need no extension, though clang 14 says so.
std::string halves_for_clang(const DeviceInfo& device) {
  if (device.features.fp16) return "";
  std::string text;
  for (const std::string width : {"", "2", "3", "4", "8", "16"}) {
    for (const std::string space : {"__global", "__local", "__private", "__constant"}) {
      text += "float" + width + " __attribute__((overloadable)) vload_half" + width + "(size_t, " +
              space + " const half*);\n";
      if (space == "__constant") continue;
      text += "void __attribute__((overloadable)) vstore_half" + width + "(float" + width +
              ", size_t, " + space + " half*);\n";
    }
  }
  return text;
}

/// Bytes of a type in LLVM's words, "[2 x [8 x <4 x float>]]", which is taken off the text.
std::int64_t bytes_of_type(std::string_view& text) {
  static const std::map<std::string_view, std::int64_t> kScalars = {
      {"float", 4}, {"double", 8}, {"half", 2}, {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}};
  if (text.starts_with("[") || text.starts_with("<")) {
    const char closing = text.front() == '[' ? ']' : '>';
    std::int64_t count = 0;
    const auto end = std::from_chars(text.data() + 1, text.data() + text.size(), count).ptr;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 3);  // " x "
    const std::int64_t each = bytes_of_type(text);
    if (!text.starts_with(closing))
      throw std::runtime_error("a type of LLVM: " + std::string(text));
    text.remove_prefix(1);
    // A vector of 3 takes as much as one of 4.
    return (closing == '>' && count == 3 ? 4 : count) * each;
  }
  const std::size_t length = text.find_first_of(" ,]>");
  const auto scalar = kScalars.find(text.substr(0, length));
  if (scalar == kScalars.end()) throw std::runtime_error("a type of LLVM: " + std::string(text));
  text.remove_prefix(length);
  return scalar->second;
}

CompiledText from_llvm(const std::string& code) {
  constexpr std::string_view kLocal = "addrspace(3) global ";
  CompiledText compiled;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("target ") || line.starts_with("!")) continue;
    if (const std::size_t at = line.find(kLocal); at != std::string::npos) {
      std::string_view type = std::string_view(line).substr(at + kLocal.size());
      compiled.local_bytes += bytes_of_type(type);
    }
    // Of the condition of a "? :" clang makes such a number, which nothing uses.
    const bool counts = line.find("zext i1 ") != std::string::npos;
    if (!counts && line.find("i64") != std::string::npos) compiled.has_long = true;
  }
  return compiled;
}

}  // namespace

std::vector<std::string> needs_beyond(const Plan& plan, const DeviceInfo& device) {
  std::vector<std::string> needs;
  try {
    verify(plan, device);
  } catch (const InternalError& error) {
    needs.emplace_back(error.what());
  }
  std::int64_t bytes = 0;
  for (const PlannedBlock& block : plan.blocks) bytes += block.bytes;
  if (bytes > device.memory.global_bytes) {
    needs.push_back("memory of " + std::to_string(bytes) + " bytes");
  }
  for (const Step* step : launching_steps(plan)) note_arguments(*step, device, needs);
  return needs;
}

bool has_clang() {
  static const bool kHas = [] {
    try {
      return run_program(kClang, {kClang, "--version"}, environment_with({})).exit_status == 0;
    } catch (const std::runtime_error&) {
      return false;
    }
  }();
  return kHas;
}

CompiledText compiled_text(const InstanceSource& kernel, const DeviceInfo& device) {
  const std::string extensions = extensions_for_clang(device);
  // Plans of several networks share kernels.
  static std::map<std::string, CompiledText> known;
  const auto [found, is_new] =
      known.try_emplace(kernel.key + kernel.function + extensions, CompiledText());
  if (!is_new) return found->second;
  const TemporaryFolder folder;
  const std::string source = folder / "kernel.cl", code = folder / "kernel.ll";
  std::ofstream(source) << halves_for_clang(device) << kernel.text;
  const ChildResult child =
      run_program(kClang,
                  {kClang, "-x", "cl", "-cl-std=CL1.2", "-w", "-O0", "-S", "-emit-llvm",
                   // Of 32 bits: then all numbers of 64 are the text's own.
                   "-target", "spir", "-Xclang", "-finclude-default-header", "-Xclang",
                   "-fdeclare-opencl-builtins", "-Xclang", extensions, "-o", code, source},
                  environment_with({}));
  found->second = child.exit_status == 0 ? from_llvm(read_file(code, 64 << 20)) : CompiledText();
  if (child.exit_status != 0) found->second.errors = child.output + "?";
  return found->second;
}

std::vector<std::string> texts_beyond(const Plan& plan, const DeviceInfo& device) {
  std::vector<std::string> needs;
  for (const InstanceSource& kernel : plan.instances) {
    const CompiledText compiled = compiled_text(kernel, device);
    if (!compiled.errors.empty()) {
      needs.push_back(kernel.function + " is not compiled: " + compiled.errors);
    }
    if (compiled.local_bytes > local_memory_limit(device)) {
      needs.push_back(kernel.function + " needs " + std::to_string(compiled.local_bytes) +
                      " bytes of local memory");
    }
  }
  return needs;
}

std::vector<std::string> kernels_with_long(const Plan& plan, const DeviceInfo& device) {
  if (!is_embedded(device) || has_extension_of(device, "cles_khr_int64")) return {};
  std::set<InstanceId> with;
  for (const InstanceId id : plan.instances.ids()) {
    if (compiled_text(plan.instances[id], device).has_long) with.insert(id);
  }
  std::set<std::string> names;
  for (const Step* step : launching_steps(plan)) {
    if (with.contains(step->launch()->instance)) names.insert(step->kernel);
  }
  return {names.begin(), names.end()};
}

}  // namespace morton::test
