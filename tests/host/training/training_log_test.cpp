// SPDX-License-Identifier: Apache-2.0
#include "training/files/training_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "graph/architectures.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

constexpr double kLogNan = std::numeric_limits<double>::quiet_NaN();

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 0xf];
  }
  return text;
}

/// The vectors of RFC 3720, B.4.
TEST(EventFile, Crc32cAgreesWithTheRfc) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(EventFile, WritesTheWireFormat) {
  WireMessage message;
  message.integer(1, 150);
  message.integer(16, -1);
  message.text(2, "testing");
  message.real32(3, 1.0F);
  message.real64(4, -2.0);
  EXPECT_EQ(hex(message.bytes()),
            "089601"
            "8001ffffffffffffffffff01"
            "120774657374696e67"
            "1d0000803f"
            "2100000000000000c0");
}

/// Payloads of the records; checks lengths and both checksums.
std::vector<std::string> records_of(std::string bytes) {
  std::vector<std::string> records;
  while (!bytes.empty()) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const std::string payload = bytes.substr(12, length);
    EXPECT_EQ(bytes.substr(0, 16 + length), tf_record(payload));
    records.push_back(payload);
    bytes.erase(0, 16 + length);
  }
  return records;
}

std::filesystem::path events_in(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) return entry.path();
  }
  ADD_FAILURE() << "no event file";
  return {};
}

LogRow row_at(std::int64_t step) {
  LogRow row;
  row.step = step;
  row.epoch = 1;
  row.loss = 1.0 / static_cast<double>(step);
  row.learning_rate = 0.1;
  row.seconds = 0.25;
  return row;
}

TEST(TrainingLog, WritesTheSameColumns) {
  LogRow row = row_at(3);
  row.accuracy = 0.5;
  row.validation_loss = kLogNan;
  row.images_per_second = 1234.56;
  EXPECT_EQ(csv_line(row), "3,1,0.33333334,0.5,nan,,0.1,1234.6,0.250\n");
  EXPECT_EQ(jsonl_line(row),
            "{\"step\":3,\"epoch\":1,\"loss\":0.33333334,\"accuracy\":0.5,\"validation_loss\":null,"
            "\"validation_accuracy\":null,\"learning_rate\":0.1,\"images_per_second\":1234.6,"
            "\"seconds\":0.250}\n");
  EXPECT_EQ(std::strtof("0.33333334", nullptr), 1.0F / 3.0F);
  row.validation_loss = std::copysign(kLogNan, -1.0);
  EXPECT_THAT(csv_line(row), HasSubstr(",nan,"));
}

TEST(TrainingLog, GoesOnWhereACheckpointStands) {
  TemporaryFolder folder;
  {
    TrainingLog log(folder.path(), 0);
    for (std::int64_t step = 1; step <= 5; ++step) log.add(row_at(step));
  }
  const std::string whole_csv = bytes_of_file(folder / "log.csv");
  const std::string whole_jsonl = bytes_of_file(folder / "log.jsonl");
  EXPECT_TRUE(whole_csv.starts_with("step,epoch,loss,"));
  // A kill cut the last line off.
  write_bytes(folder / "log.csv", whole_csv + "6,1,0.1");
  {
    TrainingLog log(folder.path(), 3);
    for (std::int64_t step = 4; step <= 5; ++step) log.add(row_at(step));
  }
  EXPECT_EQ(bytes_of_file(folder / "log.csv"), whole_csv);
  EXPECT_EQ(bytes_of_file(folder / "log.jsonl"), whole_jsonl);
  { const TrainingLog log(folder.path(), 0); }
  EXPECT_EQ(bytes_of_file(folder / "log.jsonl"), "");
  write_bytes(folder / "log.jsonl", "my notes\n");
  EXPECT_THAT(message_of<ModelError>([&] { const TrainingLog log(folder.path(), 1); }),
              HasSubstr("log.jsonl: expected a training's log"));
}

/// A log of any size: what stays is not written again.
TEST(TrainingLog, IsCutInItsPlace) {
  TemporaryFolder folder;
  {
    TrainingLog log(folder.path(), 0);
    for (std::int64_t step = 1; step <= 5; ++step) log.add(row_at(step));
  }
  for (const char* name : {"log.csv", "log.jsonl"}) {
    std::filesystem::create_hard_link(folder / name, folder / (std::string("same ") + name));
  }
  { const TrainingLog log(folder.path(), 2); }
  for (const char* name : {"log.csv", "log.jsonl"}) {
    const std::string text = bytes_of_file(folder / (std::string("same ") + name));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), name == std::string("log.csv") ? 3 : 2);
    EXPECT_TRUE(text.ends_with(name == std::string("log.csv") ? csv_line(row_at(2))
                                                              : jsonl_line(row_at(2))));
  }
}

TEST(TrainingLog, CutsNothingThatIsNoLog) {
  TemporaryFolder folder;
  const auto expect_left = [&](const std::string& csv, const std::string& jsonl) {
    write_bytes(folder / "log.csv", csv);
    write_bytes(folder / "log.jsonl", jsonl);
    EXPECT_THAT(message_of<ModelError>([&] { const TrainingLog log(folder.path(), 1); }),
                HasSubstr("expected a training's log"));
    EXPECT_EQ(bytes_of_file(folder / "log.csv"), csv);
    EXPECT_EQ(bytes_of_file(folder / "log.jsonl"), jsonl);
  };
  std::string header;
  for (const std::string& name : log_columns()) header += (header.empty() ? "" : ",") + name;
  const std::string first = csv_line(row_at(1)), second = csv_line(row_at(2));
  expect_left(header + "\n" + first + second, "my notes\n");
  expect_left("step,notes\n", "");
  expect_left(header + "\n" + first + "1" + std::string(5000, 'x') + "\n", "");
  // Step 1 behind step 2 would be lost.
  expect_left(header + "\n" + second + first, "");
}

TEST(TrainingLog, HoldsItsRowsUntilTheyReplaceOthers) {
  TemporaryFolder folder;
  {
    TrainingLog log(folder.path(), 0);
    for (std::int64_t step = 1; step <= 5; ++step) log.add(row_at(step));
  }
  const std::string before = bytes_of_file(folder / "log.csv");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
  };
  std::filesystem::remove(events_in(folder.path()));
  TrainingLog log(folder.path(), 0, TrainingLog::Rows::held);
  log.add(row_at(1));
  log.add(row_at(2));
  EXPECT_EQ(bytes_of_file(folder / "log.csv"), before);
  EXPECT_EQ(files(), 2);
  log.write_held();
  log.add(row_at(3));
  EXPECT_EQ(bytes_of_file(folder / "log.jsonl"),
            jsonl_line(row_at(1)) + jsonl_line(row_at(2)) + jsonl_line(row_at(3)));
  EXPECT_EQ(files(), 3);
}

TEST(TrainingLog, FramesItsEvents) {
  TemporaryFolder folder;
  TrainingLog log(folder.path(), 0);
  log.add(row_at(1));
  log.add_histogram(1, "weights", Tensor::from({3}, std::vector<float>{1, 2, 4}));
  log.add_graph(build(find_architecture("lenet5"), 1));
  const auto records = records_of(bytes_of_file(events_in(folder.path())));
  ASSERT_EQ(records.size(), 5U);
  EXPECT_THAT(records[0], HasSubstr("brain.Event:2"));
  EXPECT_THAT(records[2], HasSubstr("loss/training"));
  EXPECT_THAT(records[4], HasSubstr("_output_shapes"));
}

TEST(TrainingLog, HistogramsCountEachFiniteValueOnce) {
  const auto parts = [](std::vector<float> values) { return histogram_of(values).bytes(); };
  const auto real = [](const std::string& bytes, std::size_t at) {
    double value = 0.0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  const std::string bytes = parts({0.0F, 30.0F, 30.0F, 0.5F, NAN, INFINITY});
  EXPECT_EQ(real(bytes, 1), 0.0);
  EXPECT_EQ(real(bytes, 10), 30.0);
  EXPECT_EQ(real(bytes, 19), 4.0);
  EXPECT_EQ(real(bytes, 28), 60.5);
  EXPECT_EQ(real(bytes, 37), 1800.25);
  // Two bytes of length stand before 30 limits of eight bytes; so do they before the counts.
  const std::size_t counts = 45 + 3 + 240 + 3;
  ASSERT_EQ(bytes.size(), counts + 240);
  EXPECT_EQ(real(bytes, counts), 2.0);
  EXPECT_EQ(real(bytes, counts + 29 * 8), 2.0);
  EXPECT_EQ(parts({3.0F, 3.0F}).size(), 45U + 10 + 10);
  EXPECT_EQ(parts({}).size(), 45U + 10 + 10);
}

/// tests/model/check_training_files.py runs it, and reads what it leaves behind.
TEST(TrainingLog, DISABLED_LeavesFilesForOthersToRead) {
  const char* folder = std::getenv("MORTON_TEST_OUTPUT");
  ASSERT_NE(folder, nullptr);
  TrainingLog log(folder, 0);
  log.add_graph(build(find_architecture("lenet5"), 1));
  for (std::int64_t step = 1; step <= 5; ++step) log.add(row_at(step));
  Tensor values = Tensor::allocate(DType::f32, {17, 63});
  for (std::int64_t i = 0; i < values.size(); ++i) values.set(i, std::sin(static_cast<double>(i)));
  log.add_histogram(5, "weights/fc", values);
}

}  // namespace
}  // namespace morton::test
