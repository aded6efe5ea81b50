// SPDX-License-Identifier: Apache-2.0
#include "device/open/program_cache.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/files/trusted.hpp"
#include "base/stopwatch.hpp"
#include "base/text/bare_code.hpp"
#include "device/open/build_log.hpp"
#include "device/open/cache_limit.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/program_file.hpp"
#include "device/open/refused_kernels.hpp"

namespace morton::device {
namespace {

constexpr std::int64_t kMaxEntryBytes = std::int64_t{256} << 20;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// "-cl-std=CL1.2", or the newest that an older device has; without warnings.
std::string options_for(const DeviceInfo& info) {
  for (const char* old : {"1.0", "1.1"}) {
    if (info.driver.opencl_c_version.starts_with(std::string("OpenCL C ") + old)) {
      return std::string("-cl-std=CL") + old + " -w";
    }
  }
  return "-cl-std=CL1.2 -w";
}

/// The names in `wanted` that the program does not have.
std::vector<std::string> missing_kernels(const cl::Program& program,
                                         const std::vector<std::string>& wanted) {
  // Some drivers end the list in a zero byte.
  std::string names = ";" + program.getInfo<CL_PROGRAM_KERNEL_NAMES>();
  while (!names.empty() && names.back() == '\0') names.pop_back();
  names += ";";
  std::vector<std::string> missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [&](const std::string& kernel) {
                 return names.find(";" + kernel + ";") == std::string::npos;
               });
  return missing;
}

/// The driver's binary for `device`; empty when it gives none.
std::string binary_of(const cl::Program& program, const cl::Device& device) {
  const auto devices = program.getInfo<CL_PROGRAM_DEVICES>();
  const auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
  for (std::size_t i = 0; i < std::min(devices.size(), binaries.size()); ++i) {
    if (devices[i]() == device()) return {binaries[i].begin(), binaries[i].end()};
  }
  return {};
}

}  // namespace

ProgramCache::ProgramCache(cl::Context context, cl::Device device, const DeviceInfo& info,
                           Disk disk)
    : context_(std::move(context)),
      device_(std::move(device)),
      info_(info),
      owner_(digest_of(fingerprint(info))),
      folder_(std::move(disk.folder)),
      limit_bytes_(disk.limit_bytes),
      options_(options_for(info)) {}

std::shared_ptr<CachedProgram> ProgramCache::get(const std::string& source,
                                                 const std::vector<std::string>& kernels,
                                                 BuildReport& report) {
  const std::string key = key_of(source, kernels);
  const int count = static_cast<int>(kernels.size());
  std::promise<std::shared_ptr<CachedProgram>> made;
  Pending of_another;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = programs_.find(key); known != programs_.end()) {
      report.kernels_from_memory += count;
      return known->second;
    }
    const auto [place, is_new] = pending_.try_emplace(key);
    if (is_new) {
      place->second = made.get_future().share();
    } else {
      of_another = place->second;
    }
  }
  if (of_another.valid()) {
    report.kernels_from_memory += count;
    return of_another.get();
  }
  try {
    std::shared_ptr<CachedProgram> program = make(source, key, kernels, report);
    const std::lock_guard lock(mutex_);
    programs_[key] = program;
    pending_.erase(key);
    made.set_value(program);
    return program;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    pending_.erase(key);
    made.set_exception(std::current_exception());
    throw;
  }
}

std::shared_ptr<CachedProgram> ProgramCache::make(const std::string& source, const std::string& key,
                                                  const std::vector<std::string>& kernels,
                                                  BuildReport& report) {
  const int count = static_cast<int>(kernels.size());
  const Stopwatch watch;
  std::shared_ptr<CachedProgram> program = load(key, kernels, report);
  const bool is_from_disk = program != nullptr;
  if (!is_from_disk) program = build(source, key, kernels);
  report.build_ms += watch.milliseconds();
  const std::lock_guard lock(mutex_);
  const bool is_of_worker = built_by_workers_.erase(key) > 0;
  if (is_from_disk && !is_of_worker) {
    report.kernels_from_disk += count;
  } else {
    report.kernels_built += count;
    ++builds_;
  }
  return program;
}

std::optional<MissingProgram> ProgramCache::missing(const std::string& source,
                                                    const std::vector<std::string>& kernels) const {
  if (folder_.empty()) return std::nullopt;
  MissingProgram program{key_of(source, kernels), owner_, {}};
  program.path = path_of(program.key);
  const std::lock_guard lock(mutex_);
  std::error_code status;
  const bool is_there =
      programs_.contains(program.key) ||
      std::filesystem::exists(std::filesystem::symlink_status(program.path, status));
  if (is_there) return std::nullopt;
  return program;
}

std::string ProgramCache::why_not_kept() const {
  return folder_.empty() ? "" : why_not_kept_in(folder_ / "programs");
}

void ProgramCache::built_by_worker(const std::string& key) {
  const std::lock_guard lock(mutex_);
  built_by_workers_.insert(key);
}

void ProgramCache::keep_within_limit() const {
  if (folder_.empty()) return;
  const std::lock_guard lock(mutex_);
  std::set<std::string> in_use;
  for (const auto& [key, program] : programs_) in_use.insert(key);
  keep_within(folder_, limit_bytes_, in_use);
}

std::string ProgramCache::key_of(const std::string& source,
                                 const std::vector<std::string>& kernels) const {
  // Sizes divide the parts, so that no two lists of parts make the same bytes.
  std::string bytes = std::to_string(kProgramFileVersion);
  const std::string code = bare_code(source);
  const std::string names = joined(kernels);
  for (const std::string* part : {&code, &names, &options_, &owner_}) {
    bytes += "\n" + std::to_string(part->size()) + "\n" + *part;
  }
  return digest_of(bytes);
}

std::filesystem::path ProgramCache::path_of(const std::string& key) const {
  return folder_ / "programs" / (key + ".bin");
}

std::shared_ptr<CachedProgram> ProgramCache::load(const std::string& key,
                                                  const std::vector<std::string>& kernels,
                                                  BuildReport& report) const {
  if (folder_.empty()) return nullptr;
  const std::filesystem::path path = path_of(key);
  std::error_code status;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, status))) return nullptr;
  for (const auto& place : {path.parent_path(), path}) {
    // Not removed: it may belong to somebody else, and `store` replaces it where it can.
    if (const auto why = why_not_trusted(place)) {
      report.dropped.push_back(*why);
      return nullptr;
    }
  }
  std::string problem;
  try {
    ProgramFile file = decode_program_file(read_file(path, kMaxEntryBytes), path.string());
    if (file.key != key || file.owner != owner_ || file.kernels != kernels) {
      throw ModelError(path.string() + ": is an entry for another program or device");
    }
    auto program = std::make_shared<CachedProgram>();
    program->program = program_from(file.binary);
    const auto missing = missing_kernels(program->program, kernels);
    if (!missing.empty()) {
      throw ModelError(path.string() + ": the driver finds no kernel " + joined(missing) +
                       " in its binary");
    }
    program->key = key;
    program->kernels = kernels;
    program->origin = CachedProgram::Origin::disk;
    program->stored = true;
    mark_used(path);
    return program;
  } catch (const cl::Error& error) {
    problem = path.string() + ": the driver refused its binary: " + error.what() + " returned " +
              opencl_error_text(error.err());
  } catch (const Error& error) {
    problem = error.what();
  }
  std::filesystem::remove(path, status);
  report.dropped.push_back(problem + "; built from source instead");
  return nullptr;
}

cl::Program ProgramCache::program_from(const std::string& binary) const {
  const cl::Program::Binaries binaries{{binary.begin(), binary.end()}};
  cl::Program program(context_, {device_}, binaries);
  build_program(program, device_, options_);
  return program;
}

std::shared_ptr<CachedProgram> ProgramCache::build(const std::string& source,
                                                   const std::string& key,
                                                   const std::vector<std::string>& kernels) const {
  const std::string what = "program with the kernels " + joined(kernels);
  auto result = std::make_shared<CachedProgram>();
  with_device_errors(what, info_, [&] {
    cl::Program program(context_, source);
    if (const cl_int error = build_result(program, device_, options_); error != CL_SUCCESS) {
      const std::string log = log_of(program, device_);
      const std::string text = what + ": does not compile on " + info_.name + " with " + options_ +
                               ": clBuildProgram returned " + opencl_error_text(error);
      // Other codes, such as that of no memory, say nothing of the kernel.
      if (error != CL_BUILD_PROGRAM_FAILURE) throw cl::Error(error, "clBuildProgram");
      if (log.empty()) {
        throw DeviceError(text +
                          "; the driver gave no log, as it does after a kernel of this process "
                          "died: start the process again");
      }
      throw RefusedKernels(text + shortened_log(log), kernels);
    }
    const auto missing = missing_kernels(program, kernels);
    if (!missing.empty()) {
      throw DeviceError(what + ": the source has no kernel " + joined(missing) + "; it has " +
                        program.getInfo<CL_PROGRAM_KERNEL_NAMES>());
    }
    result->program = program;
  });
  result->key = key;
  result->kernels = kernels;
  return result;
}

std::string ProgramCache::store(CachedProgram& program) {
  const std::lock_guard lock(mutex_);
  if (folder_.empty() || program.stored) return "";
  const std::string what = "program with the kernels " + joined(program.kernels) + ": not kept: ";
  try {
    const std::string binary = binary_of(program.program, device_);
    program.stored = binary.empty();
    if (binary.empty()) return what + "the driver gives no binary";
    if (static_cast<std::int64_t>(binary.size()) > kMaxEntryBytes / 2) {
      program.stored = true;
      return what + "its binary has " + std::to_string(binary.size()) + " bytes";
    }
    write_trusted_file(path_of(program.key),
                       encode({program.key, owner_, program.kernels, binary}));
    program.stored = true;
    return "";
  } catch (const cl::Error& error) {
    return what + error.what() + " returned " + opencl_error_text(error.err());
  } catch (const Error& error) {
    return what + error.what();
  }
}

int ProgramCache::builds() const {
  const std::lock_guard lock(mutex_);
  return builds_;
}

}  // namespace morton::device
