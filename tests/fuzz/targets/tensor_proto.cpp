// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"

namespace morton::test {

/// The bytes as a tensor, as a list of them and as a value that may be absent.
void fuzz_tensor_proto(std::string_view bytes) {
  const MemoryFile file(bytes);
  for (const ValueForm& form :
       {ValueForm{}, ValueForm{.is_list = true}, ValueForm{.is_optional = true}}) {
    read_or_refuse([&] { (void)read_onnx_value(file.path(), form); });
  }
  (void)read_onnx_tensor(file.path());
}

}  // namespace morton::test
