// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "morton/export.hpp"
#include "morton/tensor.hpp"

namespace morton {

struct PicturePreparation;

/// The part of a data set that is learned from, or the one that shows what has been learned.
enum class Split : std::uint8_t { train, test };

/// Examples, and what a network shall say of each.
struct MORTON_API Dataset {
  std::string where;  ///< the file or folder, for messages
  Tensor inputs;      ///< pictures, u8 levels [N, C, H, W]; or features, f32 [N, ...]
  Tensor targets;     ///< numbers of classes, i32 [N]; or values, f32 [N, ...]
  /// Labels are 0 to `classes` - 1; 0 where the targets are values.
  std::int64_t classes = 0;
  std::vector<std::string> class_names;  ///< empty, or one for each class
  /// Coloured pictures, of all that were read, that were turned to grey for an input of one
  /// channel.
  std::int64_t without_colours = 0;

  [[nodiscard]] std::int64_t size() const { return inputs.shape().front(); }  ///< examples, N
  [[nodiscard]] bool has_labels() const { return classes > 0; }
};

/// Reads one part of a data set; docs/training.md shows the kinds:
///  - a folder of IDX files as MNIST's are named (train-images-idx3-ubyte, t10k-labels-idx1-ubyte
///    ..., packed by gzip or not), or the images' file of one part, with its labels beside it;
///  - a folder of CIFAR-10's binary version (data_batch_1.bin ..., test_batch.bin);
///  - a folder of pictures (PNG, JPEG) of one size, in a folder for each class, these in `train`
///    and `test` (or `val`, `validation`, `valid`: the first that is there), or all of them for
///    training; names that begin with a dot are passed over;
///  - an .npz archive with x and y, or x_train, y_train, x_test and y_test. x is u8 [N, H, W],
///    [N, C, H, W] or [N, H, W, C] (where the last extent is 1, 3 or 4 and the second is not), or
///    f32 or f64 [N, ...]; y is an integer for each example, or f32 or f64 [N, ...].
/// Throws ModelError where there is no data set, for files that are damaged or contradict each
/// other, for negative labels and for numbers that are not finite; UsageError where the part is not
/// there.
[[nodiscard]] MORTON_API Dataset read_dataset(const std::string& path, Split split);

/// Likewise a folder of pictures of any sizes: each is resized, cropped and framed for an input of
/// that shape (`picture_size_of`), and has its channels, in the order of `colours`. Levels stay
/// levels; `full`, `mean` and `deviation` are for training and evaluation. Throws UsageError for
/// other kinds of data too.
[[nodiscard]] MORTON_API Dataset read_dataset(const std::string& path, Split split,
                                              const Shape& input,
                                              const PicturePreparation& preparation);

/// Whether the data set at `path` has that part; throws as `read_dataset` does where it is none.
[[nodiscard]] MORTON_API bool has_split(const std::string& path, Split split);

/// Splits `share` (above 0 and below 1) of the examples off, chosen by `seed`: what remains and
/// what was split off, both in the order of `data`. The same on every platform. Throws UsageError
/// for other shares, and where a part would be empty.
[[nodiscard]] MORTON_API std::pair<Dataset, Dataset> split_off(const Dataset& data, double share,
                                                               std::uint64_t seed);

/// Throws ModelError, naming the example, unless all labels are below `classes`, the number that
/// a network tells apart.
MORTON_API void require_labels_below(const Dataset& data, std::int64_t classes);

/// How pictures of a data set go to a network's input.
struct MORTON_API PictureFit {
  std::int64_t channels = 0, height = 0, width = 0;  ///< of the data's pictures
  /// Of the input; what it leaves open is as the pictures have it.
  std::int64_t input_channels = 0, input_height = 0, input_width = 0;
  /// [N, C, H, W] or [N, H, W, C].
  enum class Order : std::uint8_t { channels_first, channels_last } order = Order::channels_first;

  /// Whether the network sees only a part of each picture.
  [[nodiscard]] bool cuts() const { return height > input_height || width > input_width; }
};

/// How the data's pictures, [N, C, H, W] or grey [N, H, W], go to an input [N, C, H, W] or
/// [N, H, W, C]; where both could be meant, the former is. Grey ones go to up to four channels.
/// Open extents of `input` are -1. Nothing where the data or the input are no pictures; throws
/// UsageError for other numbers of channels.
[[nodiscard]] MORTON_API std::optional<PictureFit> fit_pictures(const Dataset& data,
                                                                const Shape& input);

/// `input` with the extents of an example where it leaves its own open (-1), except the batch in
/// front. What does not follow from the data stays open. Throws as `fit_pictures` does.
[[nodiscard]] MORTON_API Shape shape_for(const Dataset& data, const Shape& input);

}  // namespace morton
