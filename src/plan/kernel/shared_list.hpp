// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/rooms.hpp"

namespace morton::plan {

/// Values that do not change, so that lists share them: the many ways through a recipe begin alike,
/// and repeat a kernel for each slab.
template <typename T>
class SharedList {
 public:
  using Shared = std::shared_ptr<const T>;

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = T;
    using reference = const T&;
    using pointer = const T*;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    explicit Iterator(typename std::vector<Shared>::const_iterator at) : at_(at) {}
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
    typename std::vector<Shared>::const_iterator at_;
  };

  void push_back(T value) { values_.push_back(std::make_shared<const T>(std::move(value))); }
  void push_back(Shared value) { values_.push_back(std::move(value)); }
  /// Adds those of the other list from `first` on.
  void append(const SharedList& other, std::size_t first = 0) {
    const auto begin = other.values_.begin() + static_cast<std::ptrdiff_t>(first);
    values_.insert(values_.end(), begin, other.values_.end());
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return *values_[index]; }
  [[nodiscard]] const T& back() const { return *values_.back(); }
  [[nodiscard]] const std::vector<Shared>& shared() const { return values_; }
  [[nodiscard]] Iterator begin() const { return Iterator(values_.begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(values_.end()); }

  /// Replaces each by a copy that `change` was called on; one that is there twice stays one.
  template <typename Change>
  void change_each(const Change& change) {
    std::map<const T*, Shared> changed;
    for (Shared& value : values_) {
      Shared& copy = changed[value.get()];
      if (copy == nullptr) {
        auto made = std::make_shared<T>(*value);
        change(*made);
        copy = std::move(made);
      }
      value = copy;
    }
  }

 private:
  std::vector<Shared> values_;
};

}  // namespace morton::plan
