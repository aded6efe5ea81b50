// SPDX-License-Identifier: Apache-2.0
#include "fuzz/tensor_changes.hpp"

#include <onnx.pb.h>

#include <string>
#include <vector>

namespace morton::test {

void change_extent(onnx::TensorProto& tensor, RandomValues& random) {
  const auto choice = random.below(4);
  if (choice == 0) tensor.add_dims(random.number(1));
  if (choice == 1 && tensor.dims_size() > 0) tensor.mutable_dims()->RemoveLast();
  if (choice >= 2 && tensor.dims_size() > 0) {
    const auto place = random.place(tensor.dims_size());
    tensor.set_dims(place, random.number(tensor.dims(place)));
  }
  // As many bytes as the small shape says, so that more than the length is looked at.
  std::int64_t elements = 1;
  for (const std::int64_t extent : tensor.dims()) {
    if (extent < 0 || extent > 64 || elements > 512) return;
    elements *= extent;
  }
  if (tensor.has_raw_data() && random.below(4) != 0) {
    const bool wide = tensor.data_type() == onnx::TensorProto::INT64;
    tensor.mutable_raw_data()->resize(static_cast<std::size_t>(elements) * (wide ? 8 : 4));
  }
}

void change_numbers(onnx::TensorProto& tensor, RandomValues& random) {
  if (tensor.int64_data_size() > 0)
    tensor.set_int64_data(random.place(tensor.int64_data_size()), random.number(0));
  if (tensor.int32_data_size() > 0) {
    tensor.set_int32_data(random.place(tensor.int32_data_size()),
                          static_cast<std::int32_t>(random.number(0)));
  }
  if (tensor.float_data_size() > 0)
    tensor.set_float_data(random.place(tensor.float_data_size()), random.real());
  std::string& raw = *tensor.mutable_raw_data();
  if (raw.empty()) {
    tensor.clear_raw_data();
    return;
  }
  const bool wide = tensor.data_type() == onnx::TensorProto::INT64;
  const std::size_t size = wide ? 8 : 4;
  if (raw.size() < size) return;
  const std::size_t place = random.below(raw.size() / size) * size;
  const std::int64_t whole = random.number(0);
  const float part = random.real();
  raw.replace(place, size,
              wide ? reinterpret_cast<const char*>(&whole) : reinterpret_cast<const char*>(&part),
              size);
}

namespace {

std::string any_location(RandomValues& random) {
  static const std::vector<std::string> kLocations{"weights.bin",
                                                   "part/more.bin",
                                                   "empty.bin",
                                                   "part",
                                                   "link.bin",
                                                   "up/foreign.bin",
                                                   "loop.bin",
                                                   "../foreign.bin",
                                                   "part/../../foreign.bin",
                                                   "./weights.bin",
                                                   "weights.bin/",
                                                   "part//more.bin",
                                                   "..\\foreign.bin",
                                                   "/etc/passwd",
                                                   "/dev/zero",
                                                   "/proc/self/mem",
                                                   "absent.bin",
                                                   ".",
                                                   "",
                                                   std::string("weights.bin\0x", 13),
                                                   std::string(300, 'n'),
                                                   std::string(1500, '/'),
                                                   "\xff\xfe",
                                                   "weights.bin\n"};
  return kLocations[random.below(kLocations.size())];
}

/// A number of bytes, or a text that looks like one.
std::string any_size(RandomValues& random) {
  static const std::vector<std::string> kTexts{"",    "+4",   " 4",  "4 ",
                                               "0x4", "4.0",  "1e2", "-0",
                                               "٤",   "0004", "--4", "99999999999999999999",
                                               "nan", "256",  "255", "257"};
  if (random.below(2) == 0) return kTexts[random.below(kTexts.size())];
  return std::to_string(random.number(4));
}

}  // namespace

void change_place(onnx::TensorProto& tensor, RandomValues& random) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) {
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    if (random.below(4) != 0) tensor.clear_raw_data();
  }
  auto& entries = *tensor.mutable_external_data();
  const auto choice = random.below(8);
  if (choice == 0 && entries.size() > 0) {
    entries.DeleteSubrange(random.place(entries.size()), 1);
    return;
  }
  const bool adds = choice == 1 || entries.empty();
  auto& entry = adds ? *entries.Add() : *entries.Mutable(random.place(entries.size()));
  if (adds) {
    static const std::vector<std::string> kKeys{"location", "offset", "length", "checksum", ""};
    entry.set_key(kKeys[random.below(kKeys.size())]);
  }
  entry.set_value(entry.key() == "location" ? any_location(random) : any_size(random));
}

}  // namespace morton::test
