// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

/// Lists whose elements refer to each other by number. `Id<Value>` and `Id<Block>` are two types,
/// so the number of the one cannot stand for the other:
///
///     using ValueId = Id<Value>;
///     Indexed<ValueId, Value> values;
///     Indexed<ValueId, Lifetime> lives(values.size());  // a fact of each value
///     const ValueId x = values.add({...});
///     lives[x].last = 3;
///     for (const ValueId id : values.ids()) ...
namespace morton {

/// The number of a `T` in its list, or none.
template <typename T>
class Id {
 public:
  /// None.
  constexpr Id() = default;
  /// The element at `index`, from 0; -1 is none.
  template <std::integral Index>
  constexpr explicit Id(Index index) : index_(static_cast<std::int32_t>(index)) {}

  /// False for none.
  constexpr explicit operator bool() const { return index_ >= 0; }
  /// From 0; -1 for none.
  [[nodiscard]] constexpr std::int32_t index() const { return index_; }
  /// The element so many places behind this one; of none, none.
  template <std::integral Count>
  [[nodiscard]] constexpr Id moved(Count places) const {
    return index_ < 0 ? *this : Id(index_ + static_cast<std::int32_t>(places));
  }
  /// In the order of the list, none first.
  friend constexpr auto operator<=>(const Id&, const Id&) = default;

 private:
  std::int32_t index_ = -1;
};

/// The ids from `first` to before `end`, in order.
template <typename IdType>
class IdRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = IdType;
    using difference_type = std::ptrdiff_t;
    using pointer = const IdType*;
    using reference = IdType;

    constexpr Iterator() = default;
    constexpr explicit Iterator(IdType at) : at_(at) {}
    constexpr IdType operator*() const { return at_; }
    constexpr Iterator& operator++() {
      at_ = at_.moved(1);
      return *this;
    }
    constexpr Iterator operator++(int) { return std::exchange(*this, Iterator(at_.moved(1))); }
    friend constexpr bool operator==(const Iterator&, const Iterator&) = default;

   private:
    IdType at_;
  };

  constexpr IdRange(IdType first, IdType end) : first_(first), end_(end) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(end_); }

 private:
  IdType first_, end_;
};

/// A list whose elements are named by `IdType` alone. As with std::vector, to ask for an element
/// that is not there is undefined: what comes from outside is checked by `contains`.
template <typename IdType, typename T>
class Indexed {
 public:
  using value_type = T;

  Indexed() = default;
  explicit Indexed(std::size_t count, const T& value = T()) : elements_(count, value) {}
  Indexed(std::initializer_list<T> elements) : elements_(elements) {}
  explicit Indexed(std::vector<T> elements) : elements_(std::move(elements)) {}

  [[nodiscard]] decltype(auto) operator[](IdType id) { return elements_[place(id)]; }
  [[nodiscard]] decltype(auto) operator[](IdType id) const { return elements_[place(id)]; }
  /// False for none, and for ids beyond the list's end.
  [[nodiscard]] bool contains(IdType id) const { return id && place(id) < elements_.size(); }

  /// Appends an element; returns its id.
  IdType add(T element) {
    elements_.push_back(std::move(element));
    return IdType(elements_.size() - 1);
  }
  T& emplace_back() { return elements_.emplace_back(); }
  /// The id that the next element to be added will have.
  [[nodiscard]] IdType next_id() const { return IdType(elements_.size()); }
  /// The ids of all elements, in order.
  [[nodiscard]] IdRange<IdType> ids() const { return {IdType(0), next_id()}; }
  /// Those from `first` on.
  [[nodiscard]] IdRange<IdType> ids_from(IdType first) const { return {first, next_id()}; }

  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] bool empty() const { return elements_.empty(); }
  void clear() { elements_.clear(); }
  void resize(std::size_t count) { elements_.resize(count); }
  void assign(std::size_t count, const T& value) { elements_.assign(count, value); }

  [[nodiscard]] T& front() { return elements_.front(); }
  [[nodiscard]] const T& front() const { return elements_.front(); }
  [[nodiscard]] T& back() { return elements_.back(); }
  [[nodiscard]] const T& back() const { return elements_.back(); }
  [[nodiscard]] auto begin() { return elements_.begin(); }
  [[nodiscard]] auto begin() const { return elements_.begin(); }
  [[nodiscard]] auto end() { return elements_.end(); }
  [[nodiscard]] auto end() const { return elements_.end(); }

  friend bool operator==(const Indexed&, const Indexed&) = default;

 private:
  static std::size_t place(IdType id) { return static_cast<std::size_t>(id.index()); }

  std::vector<T> elements_;
};

}  // namespace morton
