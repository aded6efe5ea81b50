// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "catalogue/embedded.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

const fs::path kEmbeddedDir = fs::path(MORTON_SOURCE_DIR) / "src" / "kernels";

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(EmbeddedKernels, AreTheFilesOnDiskByteForByte) {
  for (const EmbeddedFile& file : embedded_kernels()) {
    EXPECT_EQ(file.content, bytes_of(kEmbeddedDir / file.path)) << file.path;
  }
}

TEST(EmbeddedKernels, AreAllThereInOrder) {
  std::set<std::string> on_disk;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kEmbeddedDir)) {
    const fs::path kind = entry.path().extension();
    if (kind == ".cl" || kind == ".clh" || kind == ".json") {
      on_disk.insert(fs::relative(entry.path(), kEmbeddedDir).generic_string());
    }
  }
  std::set<std::string> embedded;
  for (const EmbeddedFile& file : embedded_kernels()) embedded.emplace(file.path);
  EXPECT_EQ(embedded, on_disk);
  EXPECT_TRUE(std::ranges::is_sorted(embedded_kernels(), {}, &EmbeddedFile::path));
}

}  // namespace
}  // namespace morton::test
