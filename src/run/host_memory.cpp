// SPDX-License-Identifier: Apache-2.0
#include "run/host_memory.hpp"

#include <cstdint>

#if defined(__GLIBC__)
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#endif

namespace morton::run {
namespace {

#if defined(__GLIBC__)

/// As much as a linked driver holds. Before fewer weights the pages stay: the process will hold
/// little more than linking took, and to read them again takes milliseconds.
constexpr std::int64_t kManyWeightsBytes = std::int64_t{64} << 20;

struct AddressRange {
  std::uintptr_t begin = 0, end = 0;
};

/// The stretches of memory where the program and its libraries are loaded.
std::vector<AddressRange> loaded_objects() {
  std::vector<AddressRange> objects;
  const auto add = [](dl_phdr_info* info, std::size_t, void* to) {
    AddressRange range{UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      range.begin = std::min<std::uintptr_t>(range.begin, info->dlpi_addr + segment.p_vaddr);
      range.end =
          std::max<std::uintptr_t>(range.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    if (range.begin < range.end) static_cast<std::vector<AddressRange>*>(to)->push_back(range);
    return 0;
  };
  dl_iterate_phdr(add, &objects);
  return objects;
}

/// A line of /proc/self/smaps that begins a mapping: "begin-end rw-p ...".
struct Mapping {
  AddressRange range;
  bool is_writable = false;
};

std::optional<Mapping> mapping_of(std::string_view line) {
  Mapping mapping;
  const char* const end = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), end, mapping.range.begin, 16);
  if (begin.ec != std::errc() || begin.ptr == end || *begin.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(begin.ptr + 1, end, mapping.range.end, 16);
  if (last.ec != std::errc() || end - last.ptr < 5 || *last.ptr != ' ') return std::nullopt;
  mapping.is_writable = last.ptr[2] == 'w';
  return mapping;
}

/// Drops the pages of read-only mappings of `objects` of which the process has changed none: a
/// debugger's breakpoints and relocated code are the process's own.
void drop_unchanged_pages(const std::vector<AddressRange>& objects) {
  std::ifstream maps("/proc/self/smaps");
  std::optional<Mapping> mapping;
  for (std::string line; std::getline(maps, line);) {
    if (const auto next = mapping_of(line)) mapping = next;
    constexpr std::string_view kChanged = "Anonymous:";
    if (!mapping || mapping->is_writable || !line.starts_with(kChanged)) continue;
    const bool is_unchanged = line.find_first_not_of(" 0kB", kChanged.size()) == std::string::npos;
    const AddressRange range = mapping->range;
    mapping.reset();
    const bool is_objects = std::ranges::any_of(objects, [&](const AddressRange& object) {
      return object.begin < range.end && range.begin < object.end;
    });
    if (!is_unchanged || !is_objects) continue;
    // Should it fail, the pages stay.
    static_cast<void>(
        ::madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, MADV_DONTNEED));
  }
}

#endif

}  // namespace

void return_unneeded_memory([[maybe_unused]] std::int64_t weight_bytes) {
#if defined(__GLIBC__)
  malloc_trim(0);
  if (weight_bytes < kManyWeightsBytes) return;
  drop_unchanged_pages(loaded_objects());
#endif
}

}  // namespace morton::run
