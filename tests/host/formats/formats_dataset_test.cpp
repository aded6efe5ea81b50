// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/arrays/npy.hpp"
#include "host/formats_files.hpp"
#include "morton/dataset.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kDigits = std::string(MORTON_SOURCE_DIR) + "/data/mnist";

std::vector<std::int32_t> labels_of(const Dataset& data) {
  const auto labels = data.targets.as<std::int32_t>();
  return {labels.begin(), labels.end()};
}

std::string idx(const std::vector<int>& extents, const std::string& bytes) {
  std::string text = {'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const int extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(extent >> shift & 0xff);
  }
  return text + bytes;
}

/// Three pictures of 1x2.
void write_small_idx(const TemporaryFolder& folder, const std::string& part) {
  write_bytes(folder / (part + "-images-idx3-ubyte"), idx({3, 1, 2}, "abcdef"));
  write_bytes(folder / (part + "-labels-idx1-ubyte"), idx({3}, {2, 0, 1}));
}

void write_png(const std::filesystem::path& path, int width, int height, int format,
               const std::string& levels) {
  std::filesystem::create_directories(path.parent_path());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = static_cast<png_uint_32>(format);
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, levels.data(), 0, nullptr), 0);
}

template <typename Expected>
std::string error_of(const std::filesystem::path& path, Split split = Split::train) {
  return message_of<Expected>([&] { (void)read_dataset(path.string(), split); });
}

TEST(DatasetIdx, ReadsTheDigits) {
  const Dataset train = read_dataset(kDigits, Split::train);
  const Dataset test = read_dataset(kDigits, Split::test);
  EXPECT_EQ(train.inputs.shape(), (Shape{8000, 1, 28, 28}));
  EXPECT_EQ(test.inputs.shape(), (Shape{2000, 1, 28, 28}));
  EXPECT_EQ(train.targets.dtype(), DType::i32);
  EXPECT_EQ(train.classes, 10);
  EXPECT_EQ(test.classes, 10);
  const Dataset file = read_dataset(kDigits + "/t10k-images-idx3-ubyte.gz", Split::test);
  EXPECT_EQ(labels_of(file), labels_of(test));
  EXPECT_FALSE(has_split(kDigits + "/t10k-images-idx3-ubyte.gz", Split::train));
}

TEST(DatasetIdx, SaysWhatIsWrong) {
  TemporaryFolder folder;
  write_small_idx(folder, "train");
  const Dataset data = read_dataset(folder.path().string(), Split::train);
  EXPECT_EQ(data.inputs.shape(), (Shape{3, 1, 1, 2}));
  EXPECT_THAT(labels_of(data), ElementsAre(2, 0, 1));
  EXPECT_EQ(data.classes, 3);
  EXPECT_THAT(error_of<UsageError>(folder.path(), Split::test), HasSubstr("has no test part"));

  write_bytes(folder / "train-labels-idx1-ubyte", idx({2}, {2, 0}));
  EXPECT_THAT(error_of<ModelError>(folder.path()),
              AllOf(HasSubstr("expected 3 labels"), HasSubstr("train-labels-idx1-ubyte")));
  write_bytes(folder / "train-images-idx3-ubyte", idx({3, 1, 2}, "abcde"));
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("cut short"));
  std::filesystem::remove(folder / "train-labels-idx1-ubyte");
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("labels of train-images-idx3-ubyte"));
  write_bytes(folder / "train-images-idx3-ubyte", idx({0, 1, 2}, ""));
  write_bytes(folder / "train-labels-idx1-ubyte", idx({0}, ""));
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("no examples"));
}

TEST(DatasetIdx, SurvivesDamage) {
  TemporaryFolder folder;
  write_small_idx(folder, "train");
  const std::string good = bytes_of_file(folder / "train-images-idx3-ubyte");
  const auto read = [&](const std::string& bytes) {
    write_bytes(folder / "train-images-idx3-ubyte", bytes);
    (void)read_dataset(folder.path().string(), Split::train);
  };
  Hostility hostility(read);
  hostility.truncate(good);
  EXPECT_EQ(hostility.accepted, 0);
  hostility.flip(good, 200, good.size());
}

/// zlib's messages begin with a number that means nothing to a reader.
TEST(DatasetIdx, NamesAPackedFileThatIsCutShort) {
  TemporaryFolder folder;
  const std::string packed = bytes_of_file(kDigits + "/t10k-images-idx3-ubyte.gz");
  write_bytes(folder / "train-images-idx3-ubyte.gz", packed.substr(0, packed.size() / 2));
  write_bytes(folder / "train-labels-idx1-ubyte", idx({3}, {2, 0, 1}));
  const std::string message = error_of<ModelError>(folder.path());
  EXPECT_THAT(message, HasSubstr("train-images-idx3-ubyte.gz: is damaged or cut short: "));
  EXPECT_THAT(message, testing::Not(HasSubstr("fd:")));
}

TEST(DatasetIdx, RequiresLabelsBelow) {
  TemporaryFolder folder;
  write_small_idx(folder, "train");
  const Dataset data = read_dataset(folder.path().string(), Split::train);
  require_labels_below(data, 3);
  EXPECT_THAT(message_of<ModelError>([&] { require_labels_below(data, 2); }),
              AllOf(HasSubstr("example 0 has the label 2"), HasSubstr("expected 0 to 1")));
}

TEST(DatasetCifar, ReadsBatchesInOrder) {
  TemporaryFolder folder;
  const auto record = [](char label, char level) {
    std::string text(1, label);
    return text.append(3072, level);
  };
  write_bytes(folder / "data_batch_2.bin", record(3, 'c'));
  write_bytes(folder / "data_batch_10.bin", record(9, 'd'));
  write_bytes(folder / "data_batch_1.bin", record(1, 'a') + record(0, 'b'));
  Dataset data = read_dataset(folder.path().string(), Split::train);
  EXPECT_EQ(data.inputs.shape(), (Shape{4, 3, 32, 32}));
  EXPECT_THAT(labels_of(data), ElementsAre(1, 0, 3, 9));
  EXPECT_EQ(data.inputs.as<std::uint8_t>()[3072 * 3], 'd');
  EXPECT_TRUE(data.class_names.empty());
  EXPECT_FALSE(has_split(folder.path().string(), Split::test));

  write_bytes(folder / "batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\x1b\n\n");
  write_bytes(folder / "test_batch.bin", record(4, 'e'));
  data = read_dataset(folder.path().string(), Split::test);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.class_names.back(), "j?");

  write_bytes(folder / "test_batch.bin", record(10, 'e'));
  EXPECT_THAT(error_of<ModelError>(folder.path(), Split::test),
              AllOf(HasSubstr("record 0 has the label 10"), HasSubstr("expected 0 to 9")));
  write_bytes(folder / "test_batch.bin", record(1, 'e').substr(1));
  EXPECT_THAT(error_of<ModelError>(folder.path(), Split::test), HasSubstr("records of 3073 bytes"));
  write_bytes(folder / "batches.meta.txt", "a\n");
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("names of 10 classes"));
}

TEST(DatasetFolder, ReadsClassesByName) {
  TemporaryFolder folder;
  write_png(folder / "zebra/1.png", 2, 1, PNG_FORMAT_GRAY, {10, 20});
  write_png(folder / "ant/b.png", 2, 1, PNG_FORMAT_RGB, {1, 2, 3, 4, 5, 6});
  write_png(folder / "ant/a.png", 2, 1, PNG_FORMAT_GA, {100, '\xff', 100, 0});
  write_bytes(folder / "ant/.hidden", "not a picture");
  const Dataset data = read_dataset(folder.path().string(), Split::train);
  EXPECT_THAT(data.class_names, ElementsAre("ant", "zebra"));
  EXPECT_THAT(labels_of(data), ElementsAre(0, 0, 1));
  ASSERT_EQ(data.inputs.shape(), (Shape{3, 3, 1, 2}));
  EXPECT_THAT(data.inputs.as<std::uint8_t>(),
              ElementsAre(100, 0, 100, 0, 100, 0, 1, 4, 2, 5, 3, 6, 10, 20, 10, 20, 10, 20));
  EXPECT_THAT(error_of<UsageError>(folder.path(), Split::test), HasSubstr("has no test part"));
}

TEST(DatasetFolder, ReadsParts) {
  TemporaryFolder folder;
  const std::string path = folder.path().string();
  for (const char* picture : {"train/a/1.png", "train/b/1.png"}) {
    write_png(folder / picture, 1, 1, PNG_FORMAT_GRAY, {7});
  }
  EXPECT_FALSE(has_split(path, Split::test));
  // Each goes before those that were made before it.
  for (const std::string part : {"valid", "validation", "val", "test"}) {
    SCOPED_TRACE(part);
    std::filesystem::create_directories(folder / part);
    write_bytes(folder / part / "notes.txt", "no class");
    const bool others = part != "valid";
    EXPECT_EQ(has_split(path, Split::test), others);
    write_png(folder / part / "b/1.png", 1, 1, PNG_FORMAT_GRAY, {7});
    const Dataset test = read_dataset(path, Split::test);
    EXPECT_EQ(test.where, (folder / part).string());
    EXPECT_EQ(test.classes, 2);
    EXPECT_THAT(labels_of(test), ElementsAre(1));
  }
  write_png(folder / "test/c/1.png", 1, 1, PNG_FORMAT_GRAY, {7});
  EXPECT_THAT(error_of<ModelError>(folder.path(), Split::test),
              HasSubstr("a class that the training part does not have"));
}

TEST(DatasetFolder, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of<ModelError>(folder.path()),
              AllOf(HasSubstr("expected one of"), HasSubstr("IDX"), HasSubstr("CIFAR-10"),
                    HasSubstr("test (or val, validation, valid) where there is")));
  EXPECT_THAT(error_of<ModelError>(folder / "nowhere"), HasSubstr("no such file or folder"));
  std::filesystem::create_directories(folder / "a");
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("holds no pictures"));
  write_png(folder / "a/1.png", 3, 2, PNG_FORMAT_GRAY, "abcdef");
  write_png(folder / "a/2.png", 2, 2, PNG_FORMAT_GRAY, "abcd");
  EXPECT_THAT(error_of<ModelError>(folder.path()),
              AllOf(HasSubstr("2.png: a picture of 2x2"), HasSubstr("pictures of 2x3")));
  write_bytes(folder / "a/2.png", "text");
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("2.png: not a PNG or JPEG"));
  std::filesystem::remove(folder / "a/2.png");
  std::filesystem::create_directories(folder / "a/inner");
  EXPECT_THAT(error_of<ModelError>(folder.path()), HasSubstr("got the folder inner"));
}

class DatasetNpz : public ::testing::Test {
 protected:
  Dataset read(const std::vector<NamedTensor>& arrays, Split split = Split::train) {
    write_npz(path_, arrays);
    return read_dataset(path_.string(), split);
  }
  template <typename Expected>
  std::string error(const std::vector<NamedTensor>& arrays, Split split = Split::train) {
    write_npz(path_, arrays);
    return error_of<Expected>(path_, split);
  }
  static Tensor levels(const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::u8, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set(i, static_cast<double>(i));
    return tensor;
  }
  static Tensor labels(const std::vector<std::int64_t>& values) {
    return Tensor::from({static_cast<std::int64_t>(values.size())},
                        std::span<const std::int64_t>(values));
  }
  static Tensor reals(const Shape& shape, const std::vector<float>& values) {
    return Tensor::from(shape, std::span<const float>(values));
  }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "data.npz";
};

TEST_F(DatasetNpz, ReadsPicturesInEitherOrder) {
  const Dataset data = read({{"x", levels({1, 2, 1, 3})}, {"y", labels({0})}});
  EXPECT_EQ(data.inputs.shape(), (Shape{1, 3, 2, 1}));
  EXPECT_THAT(data.inputs.as<std::uint8_t>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(read({{"x", levels({2, 3, 1})}, {"y", labels({5, 1}).reshaped({2, 1})}}).classes, 6);
  EXPECT_EQ(read({{"x", levels({2, 3, 4, 3})}, {"y", labels({5, 1})}}).inputs.shape(),
            (Shape{2, 3, 4, 3}));
}

TEST_F(DatasetNpz, ReadsPartsAndValues) {
  const std::vector<NamedTensor> arrays{{"x_train", reals({2, 1}, {1, 2})},
                                        {"y_train", reals({2, 1}, {3, 4})},
                                        {"x_test", reals({1, 1}, {5})},
                                        {"y_test", reals({1, 1}, {6})}};
  const Dataset train = read(arrays);
  EXPECT_FALSE(train.has_labels());
  EXPECT_THAT(train.targets.as<float>(), ElementsAre(3.0F, 4.0F));
  EXPECT_THAT(read(arrays, Split::test).inputs.as<float>(), ElementsAre(5.0F));
}

TEST_F(DatasetNpz, SaysWhatIsWrong) {
  const Tensor x = levels({2, 3, 1});
  EXPECT_THAT(error<ModelError>({{"x", x}, {"y", labels({0, -3})}}),
              HasSubstr("y: example 1 has the label -3; expected 0 or more"));
  EXPECT_THAT(error<ModelError>({{"x", x}, {"y", labels({0, 1 << 20})}}),
              HasSubstr("has the label 1048576"));
  EXPECT_THAT(error<ModelError>({{"x", x}, {"y", labels({0})}}),
              HasSubstr("not of as many examples"));
  EXPECT_THAT(error<ModelError>({{"x", x}, {"z", x}}), HasSubstr("holds no array 'y'"));
  EXPECT_THAT(error<ModelError>({{"images", x}, {"z", x}}),
              HasSubstr("holds images, z; expected x and y, or x_train"));
  EXPECT_THAT(error<UsageError>({{"x_test", x}, {"y_test", labels({0, 0})}}),
              HasSubstr("has no training part"));
  EXPECT_THAT(error<UsageError>({{"x", x}, {"y", labels({0, 0})}}, Split::test),
              HasSubstr("has no test part"));
  EXPECT_THAT(error<ModelError>({{"x", labels({0, 0})}, {"y", labels({0, 0})}}),
              HasSubstr("expected pictures"));
  EXPECT_THAT(error<ModelError>({{"x", reals({2, 2}, {1, 2, NAN, 4})}, {"y", labels({0, 0})}}),
              HasSubstr("inputs of example 1: expected finite numbers"));
  EXPECT_THAT(error<ModelError>({{"x", x}, {"y", labels({0, 0, 0, 0}).reshaped({2, 2})}}),
              HasSubstr("expected an integer for each example"));
}

}  // namespace
}  // namespace morton::test
