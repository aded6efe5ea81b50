// SPDX-License-Identifier: Apache-2.0
#include "base/files/build_id.hpp"

#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace morton {
namespace {

/// The object that holds an address, and its build id once it is found.
struct Search {
  std::uintptr_t address = 0;
  std::string id;
};

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
  }
  return false;
}

/// The build id among an object's notes.
std::string id_in(const char* notes, std::size_t bytes) {
  constexpr std::string_view kOwner{"GNU\0", 4};
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    at += sizeof note;
    const std::size_t content = at + padded(note.n_namesz);
    const std::size_t end = content + padded(note.n_descsz);
    if (end > bytes) return {};
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(notes + at, note.n_namesz) == kOwner) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      std::string text;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[content + i]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 0xf];
      }
      return text;
    }
    at = end;
  }
  return {};
}

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!holds(*object, search.address)) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    search.id =
        id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    Search search{reinterpret_cast<std::uintptr_t>(&look_at), {}};
    dl_iterate_phdr(&look_at, &search);
    return search.id;
  }();
  return id;
}

}  // namespace morton
