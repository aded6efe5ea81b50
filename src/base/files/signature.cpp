// SPDX-License-Identifier: Apache-2.0
#include "base/files/signature.hpp"

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <vector>

#ifdef MORTON_HAS_SODIUM
#include <sodium.h>
#endif

#include "base/error.hpp"
#include "base/files/file.hpp"

namespace morton {
namespace {

constexpr std::string_view kSecretLine = "morton secret key 1 ";
constexpr std::string_view kPublicLine = "morton public key 1 ";
constexpr std::string_view kSignatureBegin = "\nmorton signature 1\nkey ";
constexpr std::string_view kSignatureMiddle = "\nsignature ";
constexpr std::string_view kSignatureEnd = "\n";
constexpr std::size_t kPublicDigits = 64;
constexpr std::size_t kSignatureDigits = 128;
constexpr std::size_t kTrailerBytes = kSignatureBegin.size() + kPublicDigits +
                                      kSignatureMiddle.size() + kSignatureDigits +
                                      kSignatureEnd.size();
constexpr std::int64_t kMostKeyBytes = std::int64_t{1} << 20;

/// What stands behind signed bytes, in its parts.
struct Trailer {
  std::string_view key, signature;  ///< in hexadecimal digits
};

std::optional<Trailer> trailer_of(std::string_view bytes) {
  if (bytes.size() < kTrailerBytes) return std::nullopt;
  std::string_view rest = bytes.substr(bytes.size() - kTrailerBytes);
  const auto take = [&rest](std::string_view text) {
    const bool is_there = rest.starts_with(text);
    if (is_there) rest.remove_prefix(text.size());
    return is_there;
  };
  Trailer trailer;
  if (!take(kSignatureBegin)) return std::nullopt;
  trailer.key = rest.substr(0, kPublicDigits);
  rest.remove_prefix(kPublicDigits);
  if (!take(kSignatureMiddle)) return std::nullopt;
  trailer.signature = rest.substr(0, kSignatureDigits);
  rest.remove_prefix(kSignatureDigits);
  return rest == kSignatureEnd ? std::optional(trailer) : std::nullopt;
}

#ifdef MORTON_HAS_SODIUM

static_assert(kPublicDigits == std::size_t{2} * crypto_sign_PUBLICKEYBYTES);
static_assert(kSignatureDigits == std::size_t{2} * crypto_sign_BYTES);

using Bytes = std::vector<unsigned char>;

void start_sodium() {
  if (sodium_init() < 0) throw DeviceError("libsodium does not start: no random numbers");
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string digits(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), bytes.data(), bytes.size());
  digits.pop_back();
  return digits;
}

/// The bytes that `digits` are; nothing where they are not `count` in hexadecimal, in small
/// letters: no two texts stand for the same bytes.
std::optional<Bytes> bytes_of_digits(std::string_view digits, std::size_t count) {
  Bytes bytes(count);
  std::size_t written = 0;
  const char* end = nullptr;
  const int status =
      sodium_hex2bin(bytes.data(), count, digits.data(), digits.size(), nullptr, &written, &end);
  const bool is_whole = status == 0 && written == count && end == digits.data() + digits.size();
  return is_whole && hexadecimal(bytes) == digits ? std::optional(bytes) : std::nullopt;
}

/// The hash that is signed, of any size without a copy (Ed25519ph).
crypto_sign_state state_of(std::span<const std::string_view> parts) {
  crypto_sign_state state;
  crypto_sign_init(&state);
  for (const std::string_view part : parts) {
    crypto_sign_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  return state;
}

std::string text_of_keys(const std::filesystem::path& path) {
  try {
    return read_file(path, kMostKeyBytes);
  } catch (const ModelError& error) {
    throw UsageError(error.message());
  }
}

Bytes secret_in(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw UsageError(path.string() + ": others may read this secret key; chmod go-rwx it");
  }
  std::string text = text_of_keys(path);
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  std::optional<Bytes> secret;
  if (line.starts_with(kSecretLine)) {
    secret = bytes_of_digits(line.substr(kSecretLine.size()), crypto_sign_SECRETKEYBYTES);
  }
  sodium_memzero(text.data(), text.size());
  if (!secret)
    throw UsageError(path.string() + ": holds no secret key (" + setting("keys") + " makes one)");
  return *secret;
}

/// The public keys in a file, in hexadecimal digits. Lines may be empty, or begin with #.
std::vector<std::string> public_keys_in(const std::filesystem::path& path) {
  std::vector<std::string> keys;
  std::istringstream lines(text_of_keys(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::string digits = line.starts_with(kPublicLine) ? line.substr(kPublicLine.size()) : "";
    if (!bytes_of_digits(digits, crypto_sign_PUBLICKEYBYTES)) {
      throw UsageError(path.string() + ": a line of it is no public key (" + setting("keys") +
                       " makes one)");
    }
    keys.push_back(digits);
  }
  if (keys.empty()) throw UsageError(path.string() + ": holds no public key");
  return keys;
}

#else

[[noreturn]] void refuse_signatures() {
  throw UnsupportedError(
      "signatures: this build of Morton has none; build it with libsodium (libsodium-dev)");
}

#endif

}  // namespace

std::string_view without_signature(std::string_view bytes) {
  return trailer_of(bytes) ? bytes.substr(0, bytes.size() - kTrailerBytes) : bytes;
}

#ifdef MORTON_HAS_SODIUM

KeyPair new_key_pair() {
  start_sodium();
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret{};
  crypto_sign_keypair(open.data(), secret.data());
  KeyPair pair{std::string(kSecretLine) + hexadecimal(secret) + "\n",
               std::string(kPublicLine) + hexadecimal(open) + "\n"};
  sodium_memzero(secret.data(), secret.size());
  return pair;
}

std::string signature_of(std::span<const std::string_view> parts,
                         const std::filesystem::path& secret_key) {
  start_sodium();
  Bytes secret = secret_in(secret_key);
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
  crypto_sign_ed25519_sk_to_pk(open.data(), secret.data());
  crypto_sign_state state = state_of(parts);
  std::array<unsigned char, crypto_sign_BYTES> signature{};
  crypto_sign_final_create(&state, signature.data(), nullptr, secret.data());
  sodium_memzero(secret.data(), secret.size());
  return std::string(kSignatureBegin) + hexadecimal(open) + std::string(kSignatureMiddle) +
         hexadecimal(signature) + std::string(kSignatureEnd);
}

std::string require_signature(std::string_view bytes, const std::filesystem::path& public_keys,
                              const std::string& where) {
  start_sodium();
  const std::vector<std::string> keys = public_keys_in(public_keys);
  const std::optional<Trailer> trailer = trailer_of(bytes);
  if (!trailer) {
    throw ModelError(where + ": is not signed, and a signature by a key of " +
                     public_keys.string() + " is asked for");
  }
  const auto signature = bytes_of_digits(trailer->signature, crypto_sign_BYTES);
  const std::string_view body = without_signature(bytes);
  for (const std::string& key : keys) {
    if (key != trailer->key || !signature) continue;
    const Bytes open = *bytes_of_digits(key, crypto_sign_PUBLICKEYBYTES);
    crypto_sign_state state = state_of(std::span(&body, 1));
    if (crypto_sign_final_verify(&state, signature->data(), open.data()) == 0) {
      return std::string(kPublicLine) + key;
    }
    throw ModelError(where + ": its signature is wrong: the file was changed after it was signed");
  }
  throw ModelError(where + ": is signed by the key " + std::string(trailer->key) +
                   ", which is not in " + public_keys.string());
}

#else

KeyPair new_key_pair() { refuse_signatures(); }

std::string signature_of(std::span<const std::string_view>, const std::filesystem::path&) {
  refuse_signatures();
}

std::string require_signature(std::string_view, const std::filesystem::path&, const std::string&) {
  refuse_signatures();
}

#endif

}  // namespace morton
