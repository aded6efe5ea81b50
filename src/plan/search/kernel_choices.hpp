// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include "base/rooms.hpp"

namespace morton::plan {

struct KernelChoice;

/// The kernels of a candidate in the order in which they run. They do not change, so that the many
/// ways through a recipe that begin alike, or repeat a kernel for each slab, share them.
class KernelChoices {
 public:
  using Shared = std::shared_ptr<const KernelChoice>;

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = KernelChoice;
    using reference = const KernelChoice&;
    using pointer = const KernelChoice*;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    explicit Iterator(std::vector<Shared>::const_iterator at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    std::vector<Shared>::const_iterator at_;
  };

  void push_back(KernelChoice choice);
  void push_back(Shared choice) { choices_.push_back(std::move(choice)); }
  [[nodiscard]] std::size_t size() const { return choices_.size(); }
  [[nodiscard]] const KernelChoice& operator[](std::size_t index) const { return *choices_[index]; }
  [[nodiscard]] const KernelChoice& back() const { return *choices_.back(); }
  [[nodiscard]] const std::vector<Shared>& shared() const { return choices_; }
  [[nodiscard]] Iterator begin() const { return Iterator(choices_.begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(choices_.end()); }

  /// Replaces each by a copy that `change` was called on; one that is there twice stays one.
  void change_each(const std::function<void(KernelChoice&)>& change);

 private:
  std::vector<Shared> choices_;
};

}  // namespace morton::plan
