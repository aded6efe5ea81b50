// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/numbers/small_types.hpp"
#include "formats/onnx/onnx_packed.hpp"
#include "formats/onnx/onnx_tensor.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::array kPacked{DType::i4,     DType::u4,     DType::i2,    DType::u2,
                             DType::f4e2m1, DType::f6e2m3, DType::f6e3m2};

Tensor counting(DType type, std::int64_t count) {
  const int sign = type == DType::i4 ? 8 : type == DType::i2 ? 2 : 0;
  Tensor tensor = Tensor::allocate(type, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<int>(i * 7 + 1) & ((1 << bits_of(type)) - 1);
    tensor.mutable_data()[i] = static_cast<std::byte>((bits ^ sign) - sign);
  }
  return tensor;
}

Tensor read(const onnx::TensorProto& proto) {
  formats::ExternalData none{{}};
  return formats::to_tensor(proto, nullptr, none, "test");
}

TEST(PackedElements, ComeBackAsTheyWere) {
  for (const DType type : kPacked) {
    for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 17}) {
      const Tensor tensor = counting(type, count);
      const std::string bytes = formats::packed(tensor);
      EXPECT_EQ(static_cast<std::int64_t>(bytes.size()), formats::file_bytes(type, count));
      const Tensor back = formats::unpacked(type, {count}, bytes);
      for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(back.data()[i], tensor.data()[i]);
    }
  }
}

TEST(PackedElements, BeginInTheLowestBits) {
  const Tensor fours = formats::unpacked(DType::i4, {3}, "\x2f\x07");
  EXPECT_EQ(fours.at(0), -1.0);
  EXPECT_EQ(fours.at(1), 2.0);
  EXPECT_EQ(fours.at(2), 7.0);
  const Tensor twos = formats::unpacked(DType::u2, {4}, "\xe4");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(twos.at(i), i);
}

TEST(PackedElements, AreReadFromWholeNumbers) {
  onnx::TensorProto proto;
  proto.set_data_type(21);  // uint4
  proto.add_dims(3);
  proto.add_int32_data(0x21);
  proto.add_int32_data(0x03);
  const Tensor tensor = read(proto);
  EXPECT_EQ(tensor.dtype(), DType::u4);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tensor.at(i), i + 1);
  proto.add_int32_data(0);
  EXPECT_THROW((void)read(proto), ModelError);
}

TEST(PackedElements, MustBeAsManyAsTheShapeSays) {
  onnx::TensorProto proto;
  proto.set_data_type(27);  // float6e2m3
  proto.add_dims(4);
  proto.set_raw_data(std::string(4, '\0'));
  EXPECT_THROW((void)read(proto), ModelError);
  proto.set_raw_data(std::string(3, '\x7f'));
  EXPECT_EQ(read(proto).size(), 4);
}

}  // namespace
}  // namespace morton::test
