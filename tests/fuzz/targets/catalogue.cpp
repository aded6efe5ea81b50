// SPDX-License-Identifier: Apache-2.0
#include "catalogue/catalogue.hpp"

#include <string>

#include "base/device/device_info.hpp"
#include "fuzz/fuzz_target.hpp"

namespace morton::test {

/// A catalogue file: an entry, a recipe, or a library of R17. Behind a line "=== source" stands the
/// text of every file that it names.
void fuzz_catalogue(std::string_view bytes) {
  constexpr std::string_view kMark = "\n=== source\n";
  const std::size_t mark = bytes.find(kMark);
  const std::string source(mark == std::string_view::npos ? "" : bytes.substr(mark + kMark.size()));
  Catalogue catalogue;
  catalogue.add_text(bytes.substr(0, mark), "entry.json",
                     [&](const std::string&) { return source; });
  const Environment device = environment_of(DeviceInfo{});
  for (const Entry& entry : catalogue.entries()) {
    (void)known_names(entry);
    (void)standard_tunables(entry);
    (void)standard_tunables(entry, device);
  }
}

}  // namespace morton::test
