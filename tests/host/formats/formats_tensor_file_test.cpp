// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/arrays/idx.hpp"
#include "formats/arrays/npy.hpp"
#include "formats/arrays/npy_header.hpp"
#include "formats/arrays/tensor_file.hpp"
#include "formats/arrays/zip.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kSource = MORTON_SOURCE_DIR;
constexpr std::array kFileTypes{DType::f32, DType::f16, DType::f64, DType::i8,
                                DType::u8,  DType::i32, DType::i64, DType::boolean};

/// Elements 0, 1, 2 ... (as truth values 0, 1, 1 ...).
Tensor counted(DType type, const Shape& shape) {
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set(i, static_cast<double>(i));
  return tensor;
}

void expect_same(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.bytes(), b.bytes());
  EXPECT_TRUE(std::equal(a.data(), a.data() + a.bytes(), b.data()));
}

std::string npy_bytes(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return bytes + header + data;
}

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(Npy, HoldsTheValuesOfTypesThatNumPyLacks) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.npy";
  const std::array<std::pair<DType, DType>, 4> cases{{{DType::bf16, DType::f32},
                                                      {DType::f8e5m2, DType::f32},
                                                      {DType::i4, DType::i8},
                                                      {DType::u2, DType::u8}}};
  for (const auto& [type, written] : cases) {
    const Tensor tensor = counted(type, {3});
    write_npy(path, tensor);
    const Tensor back = read_npy(path);
    EXPECT_EQ(back.dtype(), written);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(back.at(i), tensor.at(i));
  }
}

TEST(Npy, RoundTripOfEveryType) {
  TemporaryFolder folder;
  for (const DType type : kFileTypes) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{17}, Shape{3, 1, 5}}) {
      const Tensor tensor = counted(type, shape);
      write_npy(folder / "a.npy", tensor);
      EXPECT_EQ(std::filesystem::file_size(folder / "a.npy") - tensor.bytes(), 128U);
      expect_same(read_npy(folder / "a.npy"), tensor);
      expect_same(read_tensor(folder / "a.npy"), tensor);
    }
  }
}

TEST(Npy, ReadsOtherVersionsAndFortranOrder) {
  TemporaryFolder folder;
  const std::string data = {0, 3, 1, 4, 2, 5};
  const std::string header = "{\"descr\": 'u1', 'shape': (2, 3), 'fortran_order': True}\n";
  for (const char version : {'\1', '\2', '\3'}) {
    const auto path = write_bytes(
        folder / "f.npy",
        npy_bytes("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", data, version));
    expect_same(read_npy(path), counted(DType::u8, {2, 3}));
  }
  // Any byte order of one byte.
  write_bytes(folder / "f.npy",
              npy_bytes("{'descr': '<u1', 'shape': (6,), 'fortran_order': False}", data));
  EXPECT_EQ(read_npy(folder / "f.npy").shape(), (Shape{6}));
  // The element type always has a byte order in front.
  EXPECT_THROW((void)read_npy(write_bytes(folder / "f.npy", npy_bytes(header, data))),
               UnsupportedError);
}

TEST(Npy, RefusesBadHeaders) {
  TemporaryFolder folder;
  const auto error = [&](const std::string& header, const std::string& data) {
    const auto path = write_bytes(folder / "bad.npy", npy_bytes(header, data));
    return message_of<ModelError>([&] { (void)read_npy(path); });
  };
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (";
  EXPECT_THAT(error(good + "3,)}", "ab"), HasSubstr("needs 3 bytes, the file holds 2"));
  EXPECT_THAT(error(good + "1,)}", "ab"), HasSubstr("needs 1 bytes, the file holds 2"));
  error(good + "549755813888,)}", "ab");
  error(good + "4611686018427387904, 4611686018427387904)}", "ab");
  error(good + "99999999999999999999,)}", "ab");
  error(good + "-1,)}", "ab");
  error(good + "1,1,1,1,1,1,1,1,1)}", "a");
  error(good + "2,)} x", "ab");
  error(good + "2,", "");
  error("", "");
  error("{'descr': '|u1', 'shape': (2,)}", "ab");
  error("{'descr': '|u1', 'descr': '|u1', 'shape': (2,)}", "ab");
  error("{'descr': '|u1', 'fortran_order': 1, 'shape': (2,)}", "ab");
  EXPECT_THROW((void)parse_npy_header("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "x"),
               UnsupportedError);
  EXPECT_THROW((void)parse_npy_header("{'descr': [('a', '<f4')], 'shape': ()}", "x"),
               UnsupportedError);
}

TEST(Npz, RoundTrip) {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (const DType type : kFileTypes) {
    tensors.push_back({"of " + std::string(name_of(type)), counted(type, {3, 17})});
  }
  tensors.push_back({"empty", counted(DType::f32, {0, 4})});
  tensors.push_back({"scalar", counted(DType::i64, {})});
  write_tensors(folder / "a.npz", tensors);
  const std::vector<NamedTensor> back = read_tensors(folder / "a.npz");
  ASSERT_EQ(back.size(), tensors.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].name, tensors[i].name);
    expect_same(back[i].tensor, tensors[i].tensor);
  }
  write_tensors(folder / "b.npz", tensors);
  EXPECT_EQ(bytes_of_file(folder / "a.npz"), bytes_of_file(folder / "b.npz"));
  write_npz(folder / "none.npz", {});
  EXPECT_TRUE(read_npz(folder / "none.npz").empty());
}

TEST(Npz, ReadsWhatNumpyWrote) {
  const std::vector<NamedTensor> tensors = read_npz(kSource / "models/lenet5.expected.npz");
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "input");
  EXPECT_EQ(tensors[0].tensor.shape(), (Shape{20, 1, 32, 32}));
  EXPECT_EQ(tensors[1].name, "probabilities");
  double sum = 0.0;
  for (std::int64_t i = 0; i < 10; ++i) sum += tensors[1].tensor.at(i);
  EXPECT_NEAR(sum, 1.0, 1e-5);
}

TEST(Npz, RefusesWhatIsNoArchiveOfArrays) {
  TemporaryFolder folder;
  EXPECT_THAT(message_of<ModelError>(
                  [&] { (void)read_npz(write_bytes(folder / "a.npz", "no zip archive at all")); }),
              HasSubstr("not a zip archive"));
  ZipWriter zip;
  const std::string text = "hello";
  const std::array<std::span<const std::byte>, 1> parts{
      std::as_bytes(std::span(text.data(), text.size()))};
  zip.add("readme.txt", parts);
  write_bytes(folder / "a.npz", zip.finish());
  EXPECT_THAT(message_of<UnsupportedError>([&] { (void)read_npz(folder / "a.npz"); }),
              HasSubstr("'readme.txt'"));
  const Tensor tensor = counted(DType::u8, {3});
  const std::vector<NamedTensor> same{{"x", tensor}, {"x", tensor}};
  EXPECT_THROW(write_npz(folder / "b.npz", same), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder / "b.npz"));
}

TEST(Npz, ChecksumAndSizeAreChecked) {
  TemporaryFolder folder;
  // Stored, as NumPy's savez does, so that the bytes of the elements stand in the file.
  std::string bytes = bytes_of_file(kSource / "models/lenet5.expected.npz");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_THAT(message_of<ModelError>([&] { (void)read_npz(write_bytes(folder / "a.npz", bytes)); }),
              HasSubstr("checksum"));
  // A list of files that promises 4 GB for each.
  ZipWriter zip;
  const std::string header = npy_header(counted(DType::u8, {3}));
  const std::array<std::span<const std::byte>, 1> parts{
      std::as_bytes(std::span(header.data(), header.size()))};
  zip.add("x.npy", parts);
  bytes = zip.finish();
  const std::size_t listed = bytes.find("PK\x01\x02");
  ASSERT_NE(listed, std::string::npos);
  for (std::size_t i = 0; i < 4; ++i) bytes[listed + 24 + i] = '\xf0';
  EXPECT_THAT(message_of<ModelError>([&] { (void)read_npz(write_bytes(folder / "a.npz", bytes)); }),
              HasSubstr("unpacks to 4042322160 bytes"));
}

TEST(Idx, ReadsMnist) {
  const Tensor images = read_tensor(kSource / "data/mnist/t10k-images-idx3-ubyte.gz");
  EXPECT_EQ(images.shape(), (Shape{2000, 28, 28}));
  EXPECT_EQ(images.dtype(), DType::u8);
  const Tensor labels = read_idx(kSource / "data/mnist/t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(labels.shape(), (Shape{2000}));
  for (std::int64_t i = 0; i < labels.size(); ++i) ASSERT_LE(labels.at(i), 9.0);
}

/// An IDX file of 2x3 bytes.
const std::string kIdx = std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12) + "abcdef";

TEST(Idx, ReadsPlainAndPacked) {
  TemporaryFolder folder;
  for (const auto& path :
       {write_bytes(folder / "a.idx", kIdx), write_bytes(folder / "a-idx2-ubyte", kIdx),
        write_bytes(folder / "a.idx2.gz", gzip(kIdx))}) {
    const Tensor tensor = read_tensor(path);
    EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
    EXPECT_EQ(tensor.at(5), 'f');
  }
}

TEST(Idx, RefusesBadFiles) {
  TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) {
    const auto path = write_bytes(folder / "bad.idx", bytes);
    return message_of<ModelError>([&] { (void)read_idx(path); });
  };
  EXPECT_THAT(error(kIdx + "g"), HasSubstr("longer"));
  EXPECT_THAT(error(kIdx.substr(0, 17)), HasSubstr("cut short"));
  EXPECT_THAT(error("hello, world"), HasSubstr("not an IDX file"));
  EXPECT_THAT(error(gzip(kIdx + "g")), HasSubstr("longer"));
  error("");
  std::string damaged = gzip(kIdx);
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_THAT(error(damaged), HasSubstr("damaged"));
  std::string deep = kIdx;
  deep[3] = '\xff';
  EXPECT_THAT(error(deep), HasSubstr("dimensions"));
  // 4 GB of promises, packed and plain; nothing is allocated for them.
  std::string bomb = kIdx;
  bomb[4] = '\x20';
  EXPECT_THAT(error(bomb), HasSubstr("cannot hold"));
  EXPECT_THAT(error(gzip(bomb)), HasSubstr("cannot hold"));
  std::string floats = kIdx;
  floats[2] = '\x0d';
  const auto path = write_bytes(folder / "floats.idx", floats);
  EXPECT_THROW((void)read_idx(path), UnsupportedError);
}

TEST(TensorFile, SaysWhichNamesItKnows) {
  TemporaryFolder folder;
  EXPECT_THAT(message_of<UsageError>([&] { (void)read_tensor(folder / "a.txt"); }),
              HasSubstr(".npz"));
  EXPECT_THROW((void)read_tensor(folder / "a.npy.gz"), UsageError);
  EXPECT_THROW((void)read_tensor(folder / "none.npy"), ModelError);
  const std::vector<NamedTensor> two{{"first", counted(DType::f32, {1})},
                                     {"second", counted(DType::f32, {2})}};
  EXPECT_THROW(write_tensors(folder / "a.npy", two), UsageError);
  EXPECT_THROW(write_tensors(folder / "a.png", two), UsageError);
  write_tensors(folder / "A.NPZ", two);
  EXPECT_THAT(message_of<UsageError>([&] { (void)read_tensor(folder / "A.NPZ"); }),
              testing::AllOf(HasSubstr("'first'"), HasSubstr("'second'")));
}

TEST(TensorFileHostile, Npy) {
  const auto read = [&](const std::string& bytes) {
    std::size_t at = 0;
    const auto next = [&](std::byte* to, std::size_t count) {
      ASSERT_LE(count, bytes.size() - at);
      std::memcpy(to, bytes.data() + at, count);
      at += count;
    };
    (void)read_npy(next, static_cast<std::int64_t>(bytes.size()), "hostile");
    EXPECT_EQ(at, bytes.size());
  };
  const std::string bytes = npy_header(counted(DType::u8, {3})) + "abc";
  Hostility hostility(read);
  hostility.truncate(bytes);
  EXPECT_EQ(hostility.accepted, 0);
  hostility.flip(bytes, 2000, bytes.size());
  EXPECT_GT(hostility.refused, 0);
}

TEST(TensorFileHostile, Npz) {
  TemporaryFolder folder;
  const auto path = folder / "a.npz";
  const auto read = [&](const std::string& bytes) { (void)read_npz(write_bytes(path, bytes)); };
  write_npz(path, std::vector<NamedTensor>{{"a", counted(DType::f32, {17})},
                                           {"b", counted(DType::i64, {3, 3})}});
  const std::string bytes = bytes_of_file(path);
  Hostility hostility(read);
  hostility.truncate(bytes);
  EXPECT_EQ(hostility.accepted, 0);
  hostility.flip(bytes, 2000, bytes.size());
  EXPECT_GT(hostility.refused, 0);
}

TEST(TensorFileHostile, Idx) {
  TemporaryFolder folder;
  const auto path = folder / "a.idx";
  const auto read = [&](const std::string& bytes) { (void)read_idx(write_bytes(path, bytes)); };
  for (const std::string& bytes : {kIdx, gzip(kIdx)}) {
    Hostility hostility(read);
    hostility.truncate(bytes);
    EXPECT_EQ(hostility.accepted, 0);
    hostility.flip(bytes, 2000, bytes.size());
    EXPECT_GT(hostility.refused, 0);
  }
}

}  // namespace
}  // namespace morton::test
