// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/safetensors.hpp"

#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"

namespace morton::test {

void fuzz_safetensors(std::string_view bytes) {
  const MemoryFile file(bytes);
  const SafeTensors content = read_safetensors(file.path());
  // What was read can be written.
  (void)safetensors_header(content.tensors, content.texts);
}

}  // namespace morton::test
