// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/foreign_file.hpp"

#include <algorithm>

namespace morton::formats {
namespace {

struct Mark {
  std::size_t at;  ///< byte of the file
  std::string_view bytes;
  std::string_view what;
};

constexpr std::string_view kPicture = "it is a picture";

/// Those that say more stand before those that say less.
constexpr Mark kMarks[] = {
    {0, "version https://git-lfs", "it is a pointer of Git LFS; fetch the file by git lfs pull"},
    {0, "\x89PNG", kPicture},
    {0, "\xFF\xD8\xFF", kPicture},
    {0, "PK\x03\x04",
     "it is a ZIP archive, as PyTorch's and Keras' files are; export the model to ONNX"},
    {0, "\x1F\x8B", "it is compressed by gzip; decompress it first"},
    {0, "\x89HDF", "it is an HDF5 file, as Keras' are; export the model to ONNX"},
    {4, "TFL3", "it is a TensorFlow Lite model; convert it to ONNX"},
    {4, "ORTM", "it is a model in ONNX Runtime's own format; take the .onnx that it was made from"},
    {0,
     "\x7F"
     "ELF",
     "it is a program"},
    {0, "\x93NUMPY", "it is an array of NumPy"},
    {0, "<!DOCTYPE", "it is a web page"},
    {0, "<html", "it is a web page"},
};

/// A model has bytes below 32 among its first ones: the numbers of its fields.
bool is_text(std::string_view bytes) {
  constexpr std::size_t kEnough = 64;
  const std::string_view begin = bytes.substr(0, kEnough);
  constexpr std::size_t kLeast = 4;
  return begin.size() >= kLeast && std::ranges::none_of(begin, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte == 0x7F || (byte < ' ' && c != '\n' && c != '\r' && c != '\t');
         });
}

}  // namespace

std::string_view what_file_is(std::string_view bytes) {
  for (const Mark& mark : kMarks) {
    if (bytes.size() >= mark.at && bytes.substr(mark.at).starts_with(mark.bytes)) return mark.what;
  }
  return is_text(bytes) ? "it is text" : "";
}

}  // namespace morton::formats
