// SPDX-License-Identifier: Apache-2.0
#include "training/files/event_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace morton::training {
namespace {

// Numbers of the fields, from tensorflow/core/util/event.proto and framework/summary.proto.
constexpr int kEventWallTime = 1;
constexpr int kEventStep = 2;
constexpr int kEventFileVersion = 3;
constexpr int kEventGraphDef = 4;
constexpr int kEventSummary = 5;
constexpr int kEventSessionLog = 7;
constexpr int kSessionStatus = 1;
constexpr std::int64_t kSessionStart = 1;
constexpr int kSummaryValue = 1;
constexpr int kValueTag = 1;
constexpr int kValueSimple = 2;
constexpr int kValueHistogram = 5;

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kCastagnoli : 0);
    table[i] = value;
  }
  return table;
}

std::string little_endian(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// The checksum as TFRecord stores it: rotated and moved, so that a record of records is not taken
/// for one.
std::string masked_crc(std::string_view bytes) {
  constexpr std::uint32_t kDelta = 0xa282ead8;
  const std::uint32_t crc = crc32c(bytes);
  return little_endian(static_cast<std::uint32_t>((crc >> 15 | crc << 17) + kDelta), 4);
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A name that TensorBoard takes for an event file and sorts by time.
std::string file_name() {
  std::array<char, 80> name{};
  std::snprintf(name.data(), name.size(), "events.out.tfevents.%010lld.morton.%ld",
                static_cast<long long>(now_seconds()), static_cast<long>(::getpid()));
  return name.data();
}

WireMessage event_at(std::int64_t step) {
  WireMessage event;
  event.real64(kEventWallTime, now_seconds());
  event.integer(kEventStep, step);
  return event;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = crc_table();
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

std::string tf_record(std::string_view record) {
  const std::string length = little_endian(record.size(), 8);
  return length + masked_crc(length) + std::string(record) + masked_crc(record);
}

WireMessage histogram_of(std::span<const float> values) {
  constexpr std::size_t kBuckets = 30;
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  double count = 0.0, sum = 0.0, squares = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    count += 1.0;
    sum += value;
    squares += value * value;
  }
  if (count == 0.0) least = greatest = 0.0;
  const double width = (greatest - least) / static_cast<double>(kBuckets);
  const std::size_t buckets = width > 0.0 ? kBuckets : 1;
  std::vector<double> limits(buckets, greatest);
  for (std::size_t i = 0; i + 1 < buckets; ++i) {
    limits[i] = least + width * static_cast<double>(i + 1);
  }
  std::vector<double> counts(buckets, 0.0);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto bucket = width > 0.0 ? static_cast<std::size_t>((value - least) / width) : 0;
    counts[std::min(bucket, buckets - 1)] += 1.0;
  }
  WireMessage histogram;
  histogram.real64(1, least);
  histogram.real64(2, greatest);
  histogram.real64(3, count);
  histogram.real64(4, sum);
  histogram.real64(5, squares);
  histogram.reals64(6, limits);
  histogram.reals64(7, counts);
  return histogram;
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_step)
    : file_(folder / file_name()) {
  WireMessage version;
  version.real64(kEventWallTime, now_seconds());
  version.text(kEventFileVersion, "brain.Event:2");
  add_event(version);
  WireMessage start;
  start.integer(kSessionStatus, kSessionStart);
  WireMessage event = event_at(first_step);
  event.message(kEventSessionLog, start);
  add_event(event);
}

void EventFile::add_scalars(std::int64_t step, std::span<const Scalar> scalars) {
  WireMessage summary;
  for (const Scalar& scalar : scalars) {
    WireMessage value;
    value.text(kValueTag, scalar.tag);
    value.real32(kValueSimple, static_cast<float>(scalar.value));
    summary.message(kSummaryValue, value);
  }
  WireMessage event = event_at(step);
  event.message(kEventSummary, summary);
  add_event(event);
}

void EventFile::add_histogram(std::int64_t step, const std::string& tag, const Tensor& tensor) {
  WireMessage value;
  value.text(kValueTag, tag);
  value.message(kValueHistogram, histogram_of(tensor.as<float>()));
  WireMessage summary;
  summary.message(kSummaryValue, value);
  WireMessage event = event_at(step);
  event.message(kEventSummary, summary);
  add_event(event);
}

void EventFile::add_graph(const Graph& graph) {
  WireMessage event = event_at(0);
  event.text(kEventGraphDef, graph_def(graph).bytes());
  add_event(event);
}

void EventFile::add_event(const WireMessage& event) { file_.append(tf_record(event.bytes())); }

}  // namespace morton::training
