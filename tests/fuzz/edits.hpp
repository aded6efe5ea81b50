// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/rooms.hpp"

namespace morton::test {

/// A file that scripts edit. So a fuzzer reaches behind the digest of what only this build of
/// Morton writes.
class EditableFile {
 public:
  explicit EditableFile(std::string bytes);
  /// The file after the edits of `script`, ten bytes each: what to do, where, and a value.
  [[nodiscard]] std::string edited(std::string_view script) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> places_;  ///< where edits begin
};

}  // namespace morton::test
