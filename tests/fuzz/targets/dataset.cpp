// SPDX-License-Identifier: Apache-2.0
#include "morton/dataset.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/sections.hpp"
#include "morton/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

/// A folder of each kind of data set, or a file, and the files that an input fills.
struct Kind {
  char letter;
  const char* path;
  std::vector<const char*> files;
};

const std::vector<Kind>& kinds_of_data() {
  static const std::vector<Kind> kKinds{
      {'i', "idx", {"idx/train-images-idx3-ubyte", "idx/train-labels-idx1-ubyte"}},
      {'c', "cifar", {"cifar/batches.meta.txt", "cifar/data_batch_1.bin"}},
      {'z', "data.npz", {"data.npz"}},
      {'p', "pictures", {"pictures/cat/1.png", "pictures/cat/2.jpg", "pictures/dog/1.png"}},
  };
  return kKinds;
}

}  // namespace

/// A letter that says which kind of data set, and a section for each of its files.
void fuzz_dataset(std::string_view bytes) {
  static const TemporaryFolder kFolder;
  if (bytes.empty()) return;
  const char letter = bytes.front();
  bytes.remove_prefix(1);
  for (const Kind& kind : kinds_of_data()) {
    if (kind.letter != letter) continue;
    for (const char* name : kind.files) {
      const fs::path file = kFolder / name;
      fs::create_directories(file.parent_path());
      write_section(file, bytes);
    }
    const std::string path = (kFolder / kind.path).string();
    read_or_refuse([&] { (void)read_dataset(path, Split::train); });
    read_or_refuse([&] { (void)has_split(path, Split::test); });
    read_or_refuse([&] {
      (void)read_dataset(path, Split::train, {1, 3, 4, 4}, PicturePreparation{});
    });
  }
}

}  // namespace morton::test
