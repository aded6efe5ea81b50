// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/numbers/checked.hpp"
#include "base/numbers/small_types.hpp"
#include "base/shape.hpp"
#include "formats/arrays/npy_header.hpp"
#include "formats/arrays/zip.hpp"

namespace morton::formats {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are read and written as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr std::int64_t kMaxNpyHeaderBytes = 1 << 16;
constexpr std::int64_t kMaxArchiveBytes = std::int64_t{1} << 34;

std::int64_t little_endian(const std::byte* bytes, std::size_t count) {
  std::int64_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | std::to_integer<std::int64_t>(bytes[i]);
  return value;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The array whose Fortran-ordered elements `tensor` holds, in row-major order.
Tensor from_fortran_order(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  Tensor result = Tensor::allocate(tensor.dtype(), shape);
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype()));
  Shape strides(shape.size(), 1);  // of the source, in elements
  for (std::size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
  Shape at(shape.size(), 0);
  std::int64_t source = 0;
  std::byte* to = result.mutable_data();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    std::memcpy(to, tensor.data() + static_cast<std::size_t>(source) * size, size);
    to += size;
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++at[d] < shape[d]) break;
      source -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
  return result;
}

/// The tensor, in a type that NumPy has and that holds all its values.
Tensor as_numpy_has_it(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::i4:
    case DType::i2:
      return tensor.converted(DType::i8);
    case DType::u4:
    case DType::u2:
      return tensor.converted(DType::u8);
    case DType::bf16:
    case DType::tf32:
      return tensor.converted(DType::f32);
    default:
      return is_stored_real(tensor.dtype()) ? tensor.converted(DType::f32) : tensor;
  }
}

}  // namespace

Tensor read_npy(const ReadBytes& read, std::int64_t bytes, const std::string& where) {
  const auto fail = [&](const std::string& what) {
    throw ModelError(where + ": not an .npy array: " + what);
  };
  constexpr std::int64_t kShortest = 10;
  if (bytes < kShortest) fail("it has " + std::to_string(bytes) + " bytes");
  std::array<std::byte, 8> start{};
  read(start.data(), start.size());
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    fail("it does not begin as one");
  }
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3) {
    throw UnsupportedError(where + ": .npy version " + std::to_string(version) +
                           "; Morton reads 1 to 3");
  }
  std::array<std::byte, 4> length_bytes{};
  const std::size_t length_size = version == 1 ? 2 : 4;
  const auto preamble = static_cast<std::int64_t>(start.size() + length_size);
  if (bytes < preamble) fail("it has " + std::to_string(bytes) + " bytes");
  read(length_bytes.data(), length_size);
  const std::int64_t length = little_endian(length_bytes.data(), length_size);
  if (length > kMaxNpyHeaderBytes || length > bytes - preamble) {
    fail("its header says that it has " + std::to_string(length) + " bytes");
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  read(reinterpret_cast<std::byte*>(text.data()), text.size());
  const NpyHeader header = parse_npy_header(text, where);

  const std::int64_t needed =
      checked_mul(element_count(header.shape, where.c_str()), size_of(header.dtype), where.c_str());
  const std::int64_t left = bytes - preamble - length;
  if (needed != left) {
    fail("shape " + to_string(header.shape) + " needs " + std::to_string(needed) +
         " bytes, the file holds " + std::to_string(left));
  }
  Tensor tensor = Tensor::allocate(header.dtype, header.shape);
  read(tensor.mutable_data(), tensor.bytes());
  return header.order == NpyOrder::fortran ? from_fortran_order(tensor) : tensor;
}

Tensor read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  const ReadBytes read = [&](std::byte* to, std::size_t count) { file.read(to, count); };
  return read_npy(read, file.bytes(), file.where());
}

std::string npy_header(const Tensor& tensor) {
  std::string text = "{'descr': '" + std::string(npy_name_of(tensor.dtype())) +
                     "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < tensor.shape().size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(tensor.shape()[i]);
  }
  text += tensor.shape().size() == 1 ? ",), }" : "), }";
  const std::size_t preamble = kMagic.size() + 4;
  const auto end = static_cast<std::size_t>(
      round_up(static_cast<std::int64_t>(preamble + text.size() + 1), kAlignment));
  text.resize(end - preamble - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  const std::string where = path.string();
  const std::string archive = read_file(path, kMaxArchiveBytes);
  ZipReader zip(archive, where);
  constexpr std::string_view kSuffix = ".npy";
  const ReadBytes read = [&](std::byte* to, std::size_t count) { zip.read(to, count); };
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < zip.entries().size(); ++i) {
    const ZipEntry& entry = zip.entries()[i];
    std::string_view name = entry.name;
    const std::string here = where + ": " + in_quotes(name);
    if (!name.ends_with(kSuffix)) {
      throw UnsupportedError(here + " in the archive is no array: its name does not end in .npy");
    }
    name.remove_suffix(kSuffix.size());
    zip.open(i);
    Tensor tensor = read_npy(read, entry.bytes, here);
    zip.close();
    tensors.push_back({std::string(name), std::move(tensor)});
  }
  return tensors;
}

void write_npy(const std::filesystem::path& path, const Tensor& given) {
  const Tensor tensor = as_numpy_has_it(given);
  std::string bytes = npy_header(tensor);
  bytes.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  write_file_atomically(path, bytes);
}

void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  std::set<std::string> names;
  ZipWriter zip;
  for (const NamedTensor& named : tensors) {
    constexpr std::size_t kLongestName = 1000;
    if (named.name.empty() || named.name.size() > kLongestName ||
        named.name.find('\0') != std::string::npos || !names.insert(named.name).second) {
      throw UsageError(path.string() + ": an archive cannot hold an array named " +
                       in_quotes(named.name) + ": empty, too long, or there already");
    }
    const Tensor tensor = as_numpy_has_it(named.tensor);
    const std::string header = npy_header(tensor);
    const std::array<std::span<const std::byte>, 2> parts{bytes_of(header),
                                                          std::span(tensor.data(), tensor.bytes())};
    zip.add(named.name + ".npy", parts);
  }
  write_file_atomically(path, zip.finish());
}

}  // namespace morton::formats
