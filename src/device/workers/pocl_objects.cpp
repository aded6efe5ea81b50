// SPDX-License-Identifier: Apache-2.0
#include "device/workers/pocl_objects.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files/folder.hpp"

namespace morton::device {
namespace {

namespace fs = std::filesystem;

/// Of a launch from the origin, of fewer than 65,535 work-groups in each dimension.
constexpr std::string_view kSmallGrid = "-goffs0-smallgrid";

/// Variables of PoCL that change no object: where its cache is, its threads, who handles a signal.
constexpr std::array<std::string_view, 4> kHarmless{"POCL_CACHE_DIR", "POCL_MAX_PTHREAD_COUNT",
                                                    "POCL_AFFINITY", "POCL_SIGFPE_HANDLER"};

std::vector<fs::path> objects_in(const fs::path& cache) {
  std::vector<fs::path> objects;
  std::error_code status;
  for (const auto& file : fs::recursive_directory_iterator(cache, status)) {
    if (file.path().extension() == ".so") objects.push_back(file.path());
  }
  return objects;
}

}  // namespace

bool PoclObjects::link_launched(const std::string& kernel) const {
  const std::vector<fs::path> objects = objects_in(cache_);
  if (objects.size() != 1) return false;
  const fs::path& launched = objects.front();
  const fs::path work_group = launched.parent_path();
  const bool is_as_expected = launched.stem() == kernel &&
                              work_group.parent_path().filename() == kernel &&
                              work_group.filename().string().ends_with(kSmallGrid);
  if (!is_as_expected) return false;
  const fs::path any = work_group.parent_path() / "0-0-0";
  std::error_code status;
  fs::create_directory(any, status);
  if (!status) fs::create_hard_link(launched, any / launched.filename(), status);
  return !status;
}

int PoclObjects::compiled() const {
  std::set<ino_t> files;
  for (const fs::path& object : objects_in(cache_)) {
    struct stat facts {};
    if (::stat(object.c_str(), &facts) == 0) files.insert(facts.st_ino);
  }
  return static_cast<int>(files.size());
}

void PoclObjects::clear() const {
  std::error_code status;
  for (const fs::path& inside : entries_of(cache_, status)) {
    if (fs::is_directory(inside, status)) fs::remove_all(inside, status);
  }
}

bool pocl_is_as_it_comes() {
  for (char** one = ::environ; *one != nullptr; ++one) {
    const std::string_view variable(*one);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name.starts_with("POCL_") && std::ranges::find(kHarmless, name) == kHarmless.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace morton::device
