// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/rooms.hpp"
#include "launch/launch.hpp"

namespace morton::launch {

/// A step that calls a routine of a library on buffers: the operands and extents of its problem, by
/// name ("lhs", "M").
class LibraryStep : public LaunchedStep {
 public:
  LibraryStep(const Step& step, const BufferOf& buffer_of) : LaunchedStep(step) {
    for (const StepArgument& argument : step.arguments) {
      if (const PassedValue* passed = argument.value()) {
        buffers_[argument.name] = buffer_of(passed->id);
      } else {
        extents_[argument.name] = *argument.integer();
      }
    }
  }

  void rebind(ValueId value, const cl::Buffer& buffer) override {
    for (const StepArgument& argument : step().arguments) {
      const PassedValue* passed = argument.value();
      if (passed != nullptr && passed->id == value) buffers_[argument.name] = buffer;
    }
  }

 protected:
  [[nodiscard]] std::int64_t extent(const std::string& name) const { return extents_.at(name); }
  [[nodiscard]] bool has_buffer(const std::string& name) const { return buffers_.contains(name); }
  [[nodiscard]] const cl::Buffer& buffer(const std::string& name) const {
    return buffers_.at(name);
  }

 private:
  std::map<std::string, std::int64_t> extents_;
  std::map<std::string, cl::Buffer> buffers_;
};

}  // namespace morton::launch
