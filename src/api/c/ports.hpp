// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/c/base.h"
#include "morton/c/files.h"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::api {

/// The element type, or UsageError.
[[nodiscard]] DType dtype_of(morton_type type);
[[nodiscard]] inline morton_type type_of(DType type) { return static_cast<morton_type>(type); }
/// UsageError for a null pointer to extents.
[[nodiscard]] Shape shape_of(const std::int64_t* extents, std::size_t rank);
/// A tensor on the caller's bytes, which are only read. UsageError, beginning with `what`, where
/// the shape needs another number of them.
[[nodiscard]] Tensor callers_tensor(const std::string& what, DType type, const Shape& shape,
                                    const void* data, std::size_t bytes);
/// The same for a port, with its name in the message.
[[nodiscard]] Tensor callers_tensor(const std::string& what, const PortInfo& port, const void* data,
                                    std::size_t bytes);
/// UsageError unless the port takes so many bytes.
void require_bytes(const std::string& what, DType type, const Shape& shape, std::size_t bytes);

/// Inputs or outputs, with the arrays that a `morton_port` points to.
class PortTable {
 public:
  explicit PortTable(std::vector<PortInfo> ports);
  // What it hands out points into it.
  PortTable(const PortTable&) = delete;
  PortTable& operator=(const PortTable&) = delete;

  [[nodiscard]] std::size_t count() const { return ports_.size(); }
  /// Fills the caller's struct; UsageError beyond the last.
  void write(std::size_t index, morton_port* to) const;
  /// Null where there is none of this name.
  [[nodiscard]] const PortInfo* find(const std::string& name) const;

 private:
  struct Words {
    std::vector<const char*> symbols, counts;
  };
  std::vector<PortInfo> ports_;
  std::vector<Words> words_;
};

}  // namespace morton::api
