// SPDX-License-Identifier: Apache-2.0
#include "run/spare_results.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "base/numbers/checked.hpp"
#include "base/shape.hpp"

namespace morton::run {
namespace {

constexpr std::int64_t kPageBytes = 4096;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Piece = std::unique_ptr<void, Free>;

}  // namespace

struct SpareResults::Store {
  std::mutex mutex;
  std::multimap<std::size_t, Piece> pieces;  ///< by their bytes

  Piece take(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto found = pieces.find(bytes);
    if (found == pieces.end())
      return Piece(std::aligned_alloc(static_cast<std::size_t>(kPageBytes), bytes));
    return std::move(pieces.extract(found).mapped());
  }

  void give_back(std::size_t bytes, Piece piece) {
    const std::lock_guard lock(mutex);
    if (pieces.count(bytes) < kKept) pieces.emplace(bytes, std::move(piece));
  }
};

SpareResults::SpareResults() : store_(std::make_shared<Store>()) {}

Tensor SpareResults::take(DType type, const Shape& shape) {
  const std::int64_t bytes = checked_mul(element_count(shape, "result"), size_of(type), "result");
  const std::size_t whole =
      static_cast<std::size_t>(std::max(round_up(bytes, kPageBytes), kPageBytes));
  Piece piece = store_->take(whole);
  if (piece == nullptr) throw std::bad_alloc();
  const std::weak_ptr<Store> home = store_;
  const std::shared_ptr<void> memory(piece.release(), [home, whole](void* dropped) {
    Piece again(dropped);
    const std::shared_ptr<Store> store = home.lock();
    if (store == nullptr) return;
    try {
      store->give_back(whole, std::move(again));
    } catch (const std::bad_alloc&) {
      // Without memory for the list's node the piece goes back to the system.
    }
  });
  return Tensor::adopt(type, shape, memory.get(), static_cast<std::size_t>(bytes), memory);
}

}  // namespace morton::run
