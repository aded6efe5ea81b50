// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/rooms.hpp"

namespace morton::device {

/// PoCL's cache of one process, which holds one program with one kernel: its objects lie at
/// `<two letters>/<digest>/<kernel>/<work-group>/<kernel>.so`. Asking for the program's binary
/// compiles the kernel once more, as the object `0-0-0` for any work-group, unless that is there.
class PoclObjects {
 public:
  explicit PoclObjects(std::filesystem::path cache) : cache_(std::move(cache)) {}

  /// Links the object of the kernel's one launch in the place of `0-0-0`; returns whether it did.
  /// A later launch with another work-group finds no object of its own, and PoCL 3.1 then compiles
  /// one from the program's code: it does not take `0-0-0`. Does nothing unless there is exactly
  /// one object, made for a grid without offset and below 65,535 groups in each dimension.
  [[nodiscard]] bool link_launched(const std::string& kernel) const;
  /// How many objects were compiled; a link counts with what it links to.
  [[nodiscard]] int compiled() const;
  /// Removes the program, for the next one.
  void clear() const;

 private:
  std::filesystem::path cache_;
};

/// Whether the environment leaves PoCL's compiler as it is: of its variables, at most those are set
/// that change no object.
[[nodiscard]] bool pocl_is_as_it_comes();

}  // namespace morton::device
