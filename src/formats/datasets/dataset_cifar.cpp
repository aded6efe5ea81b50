// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/rooms.hpp"
#include "formats/datasets/dataset_kinds.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

namespace fs = std::filesystem;

// A. Krizhevsky's page on CIFAR-10, "Binary version": a label, then 1024 bytes of each of red,
// green and blue.
constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kSide = 32;
constexpr std::int64_t kPictureBytes = kChannels * kSide * kSide;
constexpr std::int64_t kRecordBytes = 1 + kPictureBytes;
constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kMaxNamesBytes = 1 << 16;

/// The files of a part: data_batch_1.bin and so on, or test_batch.bin.
std::vector<fs::path> files_of(const fs::path& folder, Split split) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool training = name.starts_with("data_batch_") && name.ends_with(".bin");
    if (split == Split::train ? training : name == "test_batch.bin") {
      files.push_back(entry.path());
    }
  }
  // data_batch_10 comes after data_batch_9.
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string();
    const std::string right = b.filename().string();
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  });
  return files;
}

bool has_cifar(const fs::path& path, Split split) { return !files_of(path, split).empty(); }

bool is_cifar(const fs::path& path) {
  return has_cifar(path, Split::train) || has_cifar(path, Split::test);
}

std::vector<std::string> names_of(const fs::path& folder) {
  const fs::path path = folder / "batches.meta.txt";
  if (!fs::exists(path)) return {};
  std::istringstream lines(read_file(path, kMaxNamesBytes));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) names.push_back(printable_name(line));
  }
  if (static_cast<std::int64_t>(names.size()) != kClasses) {
    throw ModelError(path.string() + ": expected the names of " + std::to_string(kClasses) +
                     " classes, one on each line, got " + std::to_string(names.size()));
  }
  return names;
}

std::int64_t records_of(const InputFile& file) {
  if (file.bytes() == 0 || file.bytes() % kRecordBytes != 0) {
    throw ModelError(file.where() + ": expected records of " + std::to_string(kRecordBytes) +
                     " bytes (a label and 3x32x32 levels), got " + std::to_string(file.bytes()) +
                     " bytes; was the file cut short?");
  }
  return file.bytes() / kRecordBytes;
}

Dataset load_cifar(const fs::path& path, Split split, const PictureForm* /*form*/) {
  std::vector<InputFile> files;
  std::int64_t count = 0;
  for (const fs::path& file : files_of(path, split)) {
    files.emplace_back(file);
    count += records_of(files.back());
  }
  Dataset data;
  data.where = path.string();
  data.inputs = Tensor::allocate(DType::u8, {count, kChannels, kSide, kSide});
  data.targets = Tensor::allocate(DType::i32, {count});
  data.classes = kClasses;
  data.class_names = names_of(path);
  std::byte* picture = data.inputs.mutable_data();
  std::span<std::int32_t> labels = data.targets.as_mutable<std::int32_t>();
  for (InputFile& file : files) {
    const std::int64_t records = records_of(file);
    for (std::int64_t record = 0; record < records; ++record) {
      std::byte label{};
      file.read(&label, 1);
      file.read(picture, kPictureBytes);
      picture += kPictureBytes;
      labels[0] = std::to_integer<std::int32_t>(label);
      if (labels[0] >= kClasses) {
        throw ModelError(file.where() + ": record " + std::to_string(record) + " has the label " +
                         std::to_string(labels[0]) + "; expected 0 to " +
                         std::to_string(kClasses - 1));
      }
      labels = labels.subspan(1);
    }
  }
  return data;
}

}  // namespace

DatasetKind cifar_dataset() {
  return {
      "CIFAR-10's binary version: a folder with data_batch_1.bin ..., and test_batch.bin for "
      "the test part",
      is_cifar, has_cifar, load_cifar};
}

}  // namespace morton::formats
