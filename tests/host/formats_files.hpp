// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "morton/error.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::filesystem::path write_bytes(const std::filesystem::path& path,
                                         std::string_view bytes) {
  // A new file each time: some file systems flush one that is emptied and written again.
  std::filesystem::remove(path);
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

/// The message of the `Expected` that `call` throws, or a failure.
template <typename Expected, typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another class: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// Calls `read` on damaged copies of bytes; each must succeed or throw a morton::Error.
template <typename Read>
struct Hostility {
  const Read& read;
  int accepted = 0;
  int refused = 0;

  explicit Hostility(const Read& reader) : read(reader) {}

  void feed(const std::string& bytes) {
    try {
      read(bytes);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_NE(error.error_class(), ErrorClass::internal) << error.what();
      EXPECT_FALSE(std::string_view(error.what()).empty());
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "not a morton::Error: " << error.what();
    }
  }

  /// Every proper prefix, `step` bytes apart.
  void truncate(const std::string& bytes, std::size_t step = 1) {
    for (std::size_t n = 0; n < bytes.size(); n += step) feed(bytes.substr(0, n));
  }

  /// `count` copies with one to four bytes of the first `window` replaced.
  void flip(const std::string& bytes, int count, std::size_t window) {
    constexpr unsigned kSeed = 20240611;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    std::mt19937 random(kSeed);
    for (int i = 0; i < count; ++i) {
      std::string damaged = bytes;
      for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
        damaged[random() % std::min(window, bytes.size())] = static_cast<char>(random() & 0xff);
      }
      feed(damaged);
    }
  }
};

}  // namespace morton::test
