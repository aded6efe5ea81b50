// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/r17_matrix.hpp"
#include "formats/arrays/r17_network.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/sections.hpp"
#include "morton/error.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {

/// A network's folder, a section for each file.
void fuzz_r17(std::string_view bytes) {
  static const TemporaryFolder kFolder;
  for (const char* name : {"net.json", "w.json", "w.csv", "b.json", "b.bin"}) {
    write_section(kFolder / name, bytes);
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
