// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/indexed.hpp"
#include "base/name_map.hpp"

/// Which kinds of types an archive (base/files/archive.hpp) knows how to walk through.
namespace morton {

namespace archive_detail {
template <typename T>
struct IsMap : std::false_type {};
template <typename... A>
struct IsMap<std::map<A...>> : std::true_type {};
template <typename T>
struct IsMap<NameMap<T>> : std::true_type {};
template <typename T>
struct IsVector : std::false_type {};
template <typename... A>
struct IsVector<std::vector<A...>> : std::true_type {};
template <typename I, typename T>
struct IsVector<Indexed<I, T>> : std::true_type {};
template <typename T>
struct IsId : std::false_type {};
template <typename T>
struct IsId<Id<T>> : std::true_type {};
template <typename T>
struct IsVariant : std::false_type {};
template <typename... A>
struct IsVariant<std::variant<A...>> : std::true_type {};
template <typename T>
struct IsArray : std::false_type {};
template <typename T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <typename T>
struct IsPair : std::false_type {};
template <typename A, typename B>
struct IsPair<std::pair<A, B>> : std::true_type {};
}  // namespace archive_detail

}  // namespace morton
