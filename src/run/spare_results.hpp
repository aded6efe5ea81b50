// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::run {

/// Host memory for large results. What a caller has dropped serves a later run: the system gives
/// fresh memory page by page, which takes longer than a copy into pages that are there.
class SpareResults {
 public:
  /// So many dropped pieces of one size are kept: callers hold a result while the next is computed.
  static constexpr std::size_t kKept = 2;

  SpareResults();
  /// A tensor with any bytes in it, which begins at a page. It may outlive this object.
  [[nodiscard]] Tensor take(DType type, const Shape& shape);

 private:
  struct Store;
  std::shared_ptr<Store> store_;
};

}  // namespace morton::run
