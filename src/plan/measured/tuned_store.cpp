// SPDX-License-Identifier: Apache-2.0
#include "plan/measured/tuned_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/files/trusted.hpp"
#include "plan/measured/tuned_file.hpp"

namespace morton::plan {
namespace {

namespace fs = std::filesystem;

/// Holds a lock on the folder of a file while it lives.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX) != 0) {
      throw ModelError(folder.string() +
                       ": cannot be locked, so the tuning data cannot be written");
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() { ::close(descriptor_); }

 private:
  int descriptor_ = -1;
};

/// Whether `found` says something newer than this about the same.
template <class Item, class Same>
bool is_replaced(const Item& item, const std::vector<Item>& found, const Same& same) {
  return std::ranges::any_of(found, [&](const Item& other) {
    return other.kernel == item.kernel && (other.hash != item.hash || same(item, other));
  });
}

/// What the file holds; nothing where there is none. Throws ModelError where it is another
/// device's.
TunedData read_own(const fs::path& path, const TunedDevice& device) {
  std::error_code status;
  TunedData earlier;
  const TunedDevice held = fs::exists(path, status) ? read_tuning_file(path, earlier) : device;
  if (held != device) {
    throw ModelError(path.string() +
                     ": holds the tuning data of another device: choose another file. " +
                     "Of the file: " + held.fingerprint + ". This one: " + device.fingerprint);
  }
  return earlier;
}

}  // namespace

void require_own_tuning(const fs::path& path, const TunedDevice& device) {
  static_cast<void>(read_own(path, device));
}

void require_storable(const fs::path& path, const TunedDevice& device) {
  const fs::path folder = fs::absolute(path).parent_path();
  make_private_folder(folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw UsageError(path.string() + ": the folder " + folder.string() +
                     " cannot be written: " + std::strerror(errno));
  }
  require_own_tuning(path, device);
}

fs::path tuning_file(const fs::path& folder, const TunedDevice& device) {
  return folder / (digest_of(device.fingerprint).substr(0, 16) + ".json");
}

void store_tuning(const fs::path& path, const TunedDevice& device, TunedData found,
                  const Catalogue& catalogue) {
  make_private_folder(path.parent_path());
  const FolderLock lock(path);
  TunedData earlier = read_own(path, device);
  earlier.renew_digests(catalogue);
  found.renew_digests(catalogue);
  TunedData merged;
  for (const TunedRecord& record : earlier.records()) {
    const auto same = [](const auto& a, const auto& b) { return a.problem == b.problem; };
    if (!is_replaced(record, found.records(), same)) merged.add(record);
  }
  for (const Verdict& verdict : earlier.verdicts()) {
    const auto same = [](const auto& a, const auto& b) { return a.tunables == b.tunables; };
    if (!is_replaced(verdict, found.verdicts(), same)) merged.add(verdict);
  }
  for (const StaticCost& cost : earlier.static_costs()) {
    // A search finds all that is worth keeping of a kernel.
    const auto same = [](const auto&, const auto&) { return true; };
    if (!is_replaced(cost, found.static_costs(), same)) merged.add(cost);
  }
  const auto add_own = [&](auto item) {
    item.device = device;
    merged.add(std::move(item));
  };
  std::ranges::for_each(found.records(), add_own);
  std::ranges::for_each(found.verdicts(), add_own);
  std::ranges::for_each(found.static_costs(), add_own);
  const std::string text = print_tuning(device, merged);
  const std::string_view whole = text;
  write_file_atomically(path, std::span(&whole, 1), Flush::at_once, Access::owner_writes);
}

}  // namespace morton::plan
