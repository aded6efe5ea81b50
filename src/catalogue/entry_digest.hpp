// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"

namespace morton::catalogue {

/// EntryDigest::kernel of an entry, or of one of the sources of R17's libraries: a digest of
///
/// - `code`, its text's bare_code; empty for a library's routine,
/// - the declaration's values: all keys but names (`schema`, `name`, `codename`, `source`), prose
///   (`notes`), what the text shows (`include`, `uses`), and what only guides the choice
///   (`considered`, `require`, `generic`, of `cost` the keys `bytes` and `efficiency`, of a tunable
///   `standard` and `tried`). Neither the order of keys nor blanks in an expression matter.
///
/// A key that is not named here counts, so a new one voids what was measured unless it is added.
/// A key that got another name counts under its former one, in both digests.
[[nodiscard]] std::string kernel_digest(const Json& declaration, std::string_view code);

/// EntryDigest::files of an entry's declaration and text, or of one without a source.
[[nodiscard]] std::string files_digest(std::string_view declaration, std::string_view source);
[[nodiscard]] std::string files_digest(std::string_view declaration);

}  // namespace morton::catalogue
