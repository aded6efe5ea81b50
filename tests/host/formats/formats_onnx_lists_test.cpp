// SPDX-License-Identifier: Apache-2.0
//
// Types of lists and optional values, and files of ONNX's test data that hold them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <optional>
#include <string>
#include <vector>

#include "formats/onnx/onnx_import.hpp"
#include "formats/onnx/onnx_value_type.hpp"
#include "host/formats_files.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ValueForm kTensor{};
constexpr ValueForm kList{.is_list = true};
constexpr ValueForm kOptional{.is_optional = true};
constexpr ValueForm kOptionalList{.is_list = true, .is_optional = true};

std::string tensor_bytes(const std::vector<float>& values) {
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.add_dims(static_cast<std::int64_t>(values.size()));
  for (const float value : values) proto.add_float_data(value);
  return proto.SerializeAsString();
}

std::vector<double> numbers_in(const Tensor& tensor) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.size(); ++i) numbers.push_back(tensor.at(i));
  return numbers;
}

/// A field of a message that holds bytes, fewer than 128.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())} + bytes;
}

/// The field that says which kind follows.
std::string kind(int number) { return std::string{'\x10', static_cast<char>(number)}; }

std::string list_bytes() {
  return field(1, "seq") + kind(1) + field(3, tensor_bytes({1, 2})) + field(3, tensor_bytes({3}));
}

using ListedValue = std::optional<std::vector<Tensor>>;

class OnnxValueFile : public testing::Test {
 protected:
  ListedValue read(const std::string& bytes, const ValueForm& form) {
    return read_onnx_value(write_bytes(folder_ / "input_0.pb", bytes), form);
  }
  template <typename Expected>
  std::string complaint(const std::string& bytes, const ValueForm& form) {
    return thrown<Expected>([&] { (void)read(bytes, form); }).what();
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(OnnxValueFile, ListsAreRead) {
  const ListedValue list = read(list_bytes(), kList);
  ASSERT_TRUE(list.has_value());
  ASSERT_EQ(list->size(), 2U);
  EXPECT_THAT(numbers_in((*list)[0]), ElementsAre(1, 2));
  EXPECT_THAT(numbers_in((*list)[1]), ElementsAre(3));
  EXPECT_EQ(read(kind(1), kList)->size(), 0U);
  EXPECT_EQ(read(tensor_bytes({1}), kTensor)->size(), 1U);
}

TEST_F(OnnxValueFile, OptionalValuesAreRead) {
  EXPECT_FALSE(read(kind(1), kOptional).has_value());
  EXPECT_FALSE(read("", kOptional).has_value());
  EXPECT_EQ(read(kind(1) + field(3, tensor_bytes({4})), kOptional)->size(), 1U);
  EXPECT_EQ(read(kind(3) + field(5, list_bytes()), kOptionalList)->size(), 2U);
  EXPECT_EQ(read(kind(3) + field(5, ""), kOptionalList)->size(), 0U);
  EXPECT_FALSE(read(kind(3), kOptionalList).has_value());
}

TEST_F(OnnxValueFile, WhatIsNoListOfTensorsIsRefused) {
  EXPECT_THAT(complaint<UnsupportedError>(kind(3) + field(5, ""), kList), HasSubstr("kind 3"));
  EXPECT_THAT(complaint<UnsupportedError>(field(5, ""), kList), HasSubstr("list of lists"));
  EXPECT_THAT(complaint<UnsupportedError>(field(4, ""), kList), HasSubstr("sparse"));
  EXPECT_THAT(complaint<ModelError>(kind(3) + field(5, ""), kOptional), HasSubstr("kind 3"));
  EXPECT_THAT(complaint<ModelError>(field(5, ""), kOptional), HasSubstr("damaged"));
  const std::string tensor = field(3, tensor_bytes({4}));
  EXPECT_THAT(complaint<ModelError>(tensor + tensor, kOptional), HasSubstr("damaged"));
}

TEST_F(OnnxValueFile, BrokenFilesAreRefused) {
  const std::string whole = list_bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      (void)read(whole.substr(0, size), kList);
    } catch (const ModelError& error) {
      EXPECT_THAT(error.what(), HasSubstr("not an ONNX"));
    }
  }
  // A length of 2^31 - 1, a number of 10 bytes, a tag of no field, one of another type.
  for (const char* bytes : {"\x1a\xff\xff\xff\xff\x07", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                            "\xff\xff\xff\xff\x0f", "\x19nonsense", "\x42\x01z"}) {
    EXPECT_THAT(complaint<ModelError>(bytes, kList), HasSubstr("not an ONNX list")) << bytes;
  }
  EXPECT_THAT(complaint<ModelError>(field(3, "nonsense"), kList), HasSubstr("element 0"));
  EXPECT_THAT(complaint<ModelError>("nonsense", kOptional), HasSubstr("optional value"));
}

TEST_F(OnnxValueFile, AListOfAMillionEmptyTensorsIsRefused) {
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes += std::string("\x1a\0", 2);
  EXPECT_THAT(complaint<UnsupportedError>(bytes, kList), HasSubstr("at most 10000"));
}

TEST(OnnxValueType, FormsAreTakenApart) {
  onnx::TypeProto type;
  auto& list = *type.mutable_optional_type()->mutable_elem_type()->mutable_sequence_type();
  list.mutable_elem_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  const OnnxValueType taken = value_type_of(type, "here");
  EXPECT_EQ(taken.form, (ValueForm{true, true, true}));
  EXPECT_EQ(taken.tensor->elem_type(), onnx::TensorProto::INT64);
  list.mutable_elem_type()->mutable_sequence_type();
  EXPECT_THAT(thrown<UnsupportedError>([&] { (void)value_type_of(type, "here"); }).what(),
              HasSubstr("lists inside of lists"));
}

}  // namespace
}  // namespace morton::test
