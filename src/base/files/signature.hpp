// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/rooms.hpp"

namespace morton {

/// What signs and what verifies, as their files hold them: a line of text each.
struct KeyPair {
  std::string secret_line;  ///< "morton secret key 1 <128 hexadecimal digits>"
  std::string public_line;  ///< "morton public key 1 <64 hexadecimal digits>"
};

/// A new pair (Ed25519). Throws UnsupportedError, as all functions here, where this build has no
/// libsodium.
[[nodiscard]] KeyPair new_key_pair();

/// What stands behind signed bytes, of one size always. It names the public key.
[[nodiscard]] std::string signature_of(std::span<const std::string_view> parts,
                                       const std::filesystem::path& secret_key);

/// The bytes before the signature, all of them where there is none.
[[nodiscard]] std::string_view without_signature(std::string_view bytes);

/// Checks that the bytes end in a signature of all before it, by one of the keys in the file
/// `public_keys`; returns that key's line. Throws ModelError, naming `where`, for anything else,
/// and UsageError for a file that holds no key.
[[nodiscard]] std::string require_signature(std::string_view bytes,
                                            const std::filesystem::path& public_keys,
                                            const std::string& where);

}  // namespace morton
