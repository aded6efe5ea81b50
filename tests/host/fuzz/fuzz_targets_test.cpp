// SPDX-License-Identifier: Apache-2.0
//
// A sample of what ./dev check --fuzz does: each target reads its corpus, and files that differ a
// little from those.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/file.hpp"
#include "formats/arrays/idx.hpp"
#include "formats/arrays/npy.hpp"
#include "formats/image.hpp"
#include "fuzz/checksums.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/onnx_mutator.hpp"
#include "morton/error.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

const fs::path kFuzzFolder = fs::path(MORTON_SOURCE_DIR) / "tests/fuzz";
constexpr int kChangedFiles = 100;
constexpr int kChangedModels = 20;
constexpr int kChangedPlans = 4;  // which take longest

/// The files of the target's corpus, in the order of their names; of devices the tests'
/// descriptions.
std::vector<std::string> corpus_of(const FuzzTarget& target) {
  std::vector<fs::path> paths;
  // Those that are rewritten or planned are models too.
  const fs::path folder =
      kFuzzFolder / "corpus" / (target.name.starts_with("onnx_") ? "onnx" : target.name);
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  }
  if (target.name == "device") {
    for (const auto& entry : fs::directory_iterator(kFuzzFolder / "../devices")) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::string> files;
  for (const fs::path& path : paths) files.push_back(read_file(path, 1 << 20));
  return files;
}

/// With a byte or two changed, left out, added or cut off.
std::string changed(std::string bytes, std::mt19937& random) {
  for (unsigned i = 0; i < 1 + random() % 2 && !bytes.empty(); ++i) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, 1 + random() % 8);
        break;
      case 3:
        bytes.insert(at, 1 + random() % 8, static_cast<char>(random()));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

void expect_value_or_error(const FuzzTarget& target, const std::string& bytes,
                           const std::string& what) {
  try {
    run_fuzz_target(target, bytes);
  } catch (const std::exception& error) {
    ADD_FAILURE() << target.name << ", " << what << ": " << error.what();
  }
}

TEST(FuzzTargets, EveryTargetReadsItsCorpusAndFilesLikeIt) {
  constexpr unsigned kSeed = 1;
  std::mt19937 random(kSeed);
  for (const FuzzTarget& target : fuzz_targets()) {
    const std::vector<std::string> files = corpus_of(target);
    EXPECT_FALSE(files.empty()) << target.name << " has no corpus";
    const bool is_model = target.reads_models();
    const int changes = target.name == "onnx_plan" ? kChangedPlans
                        : is_model                 ? kChangedModels
                                                   : kChangedFiles;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string number = "file " + std::to_string(i);
      expect_value_or_error(target, files[i], number);
      for (int change = 0; change < changes; ++change) {
        const std::string what = number + ", change " + std::to_string(change) + ", seed 1";
        expect_value_or_error(target, changed(files[i], random), what);
        if (is_model)
          expect_value_or_error(target,
                                mutated_model(files[i], static_cast<std::uint32_t>(random())),
                                what + ", a field");
      }
    }
  }
}

TEST(FuzzTargets, TheMutatorGivesModelsAndTheSameForASeed) {
  const std::string model = read_file(kFuzzFolder / "corpus/onnx/layers.bin", 1 << 20);
  EXPECT_EQ(mutated_model("no message", 1), "");
  EXPECT_EQ(mutated_model(model, 7), mutated_model(model, 7));
  int differ = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed)
    differ += mutated_model(model, seed) != model ? 1 : 0;
  EXPECT_GT(differ, 80);
}

/// A byte of a checksum is changed: the file is refused, and taken once the checksum is right
/// again.
TEST(FuzzTargets, ChecksumsBecomeRightAgain) {
  const auto read = [](const std::string& file, const std::string& bytes) {
    const MemoryFile memory(bytes);
    if (file.ends_with(".png")) return decode_image(bytes, file);
    return file.ends_with(".gz") ? read_idx(memory.path()) : read_npz(memory.path()).front().tensor;
  };
  struct Case {
    const char* file;
    std::size_t place;  // of a byte of a checksum, from the end
  };
  for (const auto& [file, place] : {Case{"pictures/rgb.png", 13}, {"idx/packed.gz", 5}}) {
    std::string bytes = read_file(kFuzzFolder / "corpus" / file, 1 << 20);
    EXPECT_EQ(with_right_checksums(bytes), bytes) << file;
    const std::string whole = bytes;
    bytes[bytes.size() - place] = static_cast<char>(bytes[bytes.size() - place] ^ 1);
    EXPECT_THROW((void)read(file, bytes), ModelError) << file;
    EXPECT_EQ(with_right_checksums(bytes), whole) << file;
  }
  for (const char* file : {"npz/stored.npz", "npz/packed.npz"}) {
    std::string bytes = read_file(kFuzzFolder / "corpus" / file, 1 << 20);
    const std::string whole = bytes;
    EXPECT_EQ(with_right_checksums(bytes), bytes) << file;
    const std::size_t central = bytes.find("PK\x01\x02");
    bytes[central + 16] = static_cast<char>(bytes[central + 16] ^ 1);
    EXPECT_THROW((void)read(file, bytes), ModelError) << file;
    EXPECT_EQ(with_right_checksums(bytes), whole) << file;
  }
}

TEST(FuzzTargets, AnInternalErrorAndForeignExceptionsAreFindings) {
  const FuzzTarget broken{"broken", [](std::string_view) { throw InternalError("a defect"); }, 1};
  EXPECT_THROW(run_fuzz_target(broken, ""), InternalError);
  const FuzzTarget foreign{"foreign", [](std::string_view) { throw std::out_of_range("at"); }, 1};
  EXPECT_THROW(run_fuzz_target(foreign, ""), std::out_of_range);
  const FuzzTarget refusing{"refusing", [](std::string_view) { throw ModelError("no"); }, 1};
  EXPECT_NO_THROW(run_fuzz_target(refusing, ""));
}

}  // namespace
}  // namespace morton::test
