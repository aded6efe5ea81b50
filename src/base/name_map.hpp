// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace morton {

/// A few values by name, in the order of their names: what a std::map is, in one array. Networks
/// are planned with thousands of them, which hold ten names or so. A new name moves the values
/// behind it, so a reference to a value lasts until the next one.
template <typename T>
class NameMap {
 public:
  using key_type = std::string;
  using mapped_type = T;
  using value_type = std::pair<std::string, T>;
  using iterator = typename std::vector<value_type>::iterator;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  NameMap() = default;
  NameMap(std::initializer_list<value_type> values) : NameMap(values.begin(), values.end()) {}
  /// Of values of one name the first.
  template <typename Iterator>
  NameMap(Iterator first, Iterator last) {
    insert(first, last);
  }

  [[nodiscard]] iterator begin() { return values_.begin(); }
  [[nodiscard]] iterator end() { return values_.end(); }
  [[nodiscard]] const_iterator begin() const { return values_.begin(); }
  [[nodiscard]] const_iterator end() const { return values_.end(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  void clear() { values_.clear(); }
  void reserve(std::size_t names) { values_.reserve(names); }

  [[nodiscard]] iterator find(std::string_view name) {
    return begin() + (std::as_const(*this).find(name) - std::as_const(*this).begin());
  }
  [[nodiscard]] const_iterator find(std::string_view name) const {
    auto at = begin();
    while (at != end() && at->first != name) ++at;
    return at;
  }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != end(); }
  [[nodiscard]] std::size_t count(std::string_view name) const { return contains(name) ? 1 : 0; }
  /// Throws std::out_of_range for a name that is not there.
  [[nodiscard]] T& at(std::string_view name) {
    return const_cast<T&>(std::as_const(*this).at(name));
  }
  [[nodiscard]] const T& at(std::string_view name) const {
    const auto known = find(name);
    if (known == end()) throw std::out_of_range("no value is named " + std::string(name));
    return known->second;
  }
  [[nodiscard]] T& operator[](std::string_view name) { return try_emplace(name).first->second; }

  /// Where the value of that name is, and whether it is this one: one that is known stays.
  template <typename... Arguments>
  std::pair<iterator, bool> try_emplace(std::string_view name, Arguments&&... arguments) {
    const auto at = std::ranges::lower_bound(values_, name, {}, &value_type::first);
    if (at != end() && at->first == name) return {at, false};
    return {values_.emplace(at, std::piecewise_construct, std::forward_as_tuple(name),
                            std::forward_as_tuple(std::forward<Arguments>(arguments)...)),
            true};
  }
  template <typename Value>
  std::pair<iterator, bool> emplace(std::string_view name, Value&& value) {
    return try_emplace(name, std::forward<Value>(value));
  }
  std::pair<iterator, bool> insert(value_type value) {
    return try_emplace(value.first, std::move(value.second));
  }
  void insert(std::initializer_list<value_type> values) { insert(values.begin(), values.end()); }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) try_emplace(first->first, first->second);
  }
  std::pair<iterator, bool> insert_or_assign(std::string_view name, T value) {
    const auto [at, is_new] = try_emplace(name);
    at->second = std::move(value);
    return {at, is_new};
  }
  /// Adds the values whose names are new.
  void merge(const NameMap& other) { insert(other.begin(), other.end()); }
  std::size_t erase(std::string_view name) {
    const auto known = find(name);
    if (known == end()) return 0;
    values_.erase(known);
    return 1;
  }

  friend bool operator==(const NameMap&, const NameMap&) = default;
  friend auto operator<=>(const NameMap&, const NameMap&) = default;

 private:
  std::vector<value_type> values_;
};

}  // namespace morton
