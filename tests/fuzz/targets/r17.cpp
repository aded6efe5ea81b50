// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fstream>
#include <string>

#include "formats/arrays/r17_matrix.hpp"
#include "formats/arrays/r17_network.hpp"
#include "fuzz/fuzz_target.hpp"
#include "morton/error.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {

/// A network's folder, file by file: each begins behind a line of three equals signs.
void fuzz_r17(std::string_view bytes) {
  constexpr std::string_view kMark = "\n===\n";
  static constexpr std::array kFiles{"net.json", "w.json", "w.csv", "b.json", "b.bin"};
  static const TemporaryFolder kFolder;
  for (const char* name : kFiles) {
    const std::size_t mark = bytes.find(kMark);
    std::ofstream(kFolder / name, std::ios::binary) << bytes.substr(0, mark);
    bytes.remove_prefix(mark == std::string_view::npos ? bytes.size() : mark + kMark.size());
  }
  for (const char* name : {"w.json", "b.json"}) {
    try {
      (void)read_r17_matrix(kFolder / name);
    } catch (const ModelError&) {
      // The network may read the other one.
    }
  }
  (void)import_r17_network(kFolder / "net.json");
}

}  // namespace morton::test
