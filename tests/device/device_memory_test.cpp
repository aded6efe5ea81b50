// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "device/open/memory_pool.hpp"
#include "device/use/pinned_write.hpp"
#include "device/use/transfer.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class DeviceMemory : public test::DeviceTest {
 protected:
  [[nodiscard]] cl::CommandQueue queue() const {
    return device().make_queue(OpenClDevice::QueueKind::plain);
  }
};
MORTON_ON_EVERY_DEVICE(DeviceMemory);

std::vector<std::byte> pattern(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed);
  return bytes;
}

TEST_P(DeviceMemory, BlocksAreUsedAgain) {
  MemoryPool& pool = device().memory();
  cl_mem first = nullptr;
  {
    const Block block = pool.allocate(100'000);
    const Block copy = block;
    first = block.buffer()();
    EXPECT_GE(block.bytes(), 100'000);
    EXPECT_EQ(pool.used_bytes(), block.bytes());
  }
  EXPECT_EQ(pool.used_bytes(), 0);
  EXPECT_GE(pool.peak_bytes(), 100'000);
  const Block again = pool.allocate(99'999);
  EXPECT_EQ(again.buffer()(), first);
  const Block other = pool.allocate(99'999);
  EXPECT_NE(other.buffer()(), first);
  pool.trim();
}

TEST_P(DeviceMemory, ALargeBlockIsNotWastedOnASmallRequest) {
  MemoryPool& pool = device().memory();
  const cl_mem large = pool.allocate(1'000'000).buffer()();
  EXPECT_NE(pool.allocate(63).buffer()(), large);
}

TEST_P(DeviceMemory, BlocksOutliveThePool) {
  Block block;
  {
    MemoryPool pool(device().context(), device().info());
    block = pool.allocate(17);
  }
  EXPECT_GE(block.bytes(), 17);
  EXPECT_NE(block.buffer()(), nullptr);
}

TEST_P(DeviceMemory, LimitsAreCheckedBeforeTheDriverIsAsked) {
  MemoryPool& pool = device().memory();
  EXPECT_GE(pool.allocate(0).bytes(), 1);
  EXPECT_THROW((void)pool.allocate(-1), InternalError);
  EXPECT_THROW((void)pool.allocate(device().info().memory.max_allocation_bytes + 1), DeviceError);
  EXPECT_THROW((void)pool.allocate(INT64_MAX), DeviceError);
  DeviceInfo small = device().info();
  small.memory.global_bytes = 3 * 4096;
  MemoryPool tight(device().context(), small);
  const Block two_pages = tight.allocate(8192);
  try {
    (void)tight.allocate(4097);
    FAIL() << "more than there is was given";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("8192 of the 12288"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(tight.allocate(4096).bytes(), 4096);
}

TEST_P(DeviceMemory, ThreadsShareThePool) {
  MemoryPool& pool = device().memory();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 63; ++i) (void)pool.allocate(1 + (i * 977 + t * 3331) % 40'000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.used_bytes(), 0);
}

TEST_P(DeviceMemory, BytesComeBackAtOddSizesAndOffsets) {
  const cl::CommandQueue q = queue();
  const Block block = device().memory().allocate(200);
  for (const std::int64_t size : {1, 3, 17, 63}) {
    for (const std::int64_t offset : {0, 1, 64}) {
      const auto sent = pattern(static_cast<std::size_t>(size), static_cast<int>(offset));
      write_buffer(q, device().info(), block.buffer(), offset, sent);
      std::vector<std::byte> got(sent.size());
      read_buffer(q, device().info(), block.buffer(), offset, got);
      EXPECT_EQ(got, sent) << size << " bytes at " << offset;
    }
  }
  write_buffer(q, device().info(), block.buffer(), 0, {});
}

TEST_P(DeviceMemory, BothWaysOfCopyingAgree) {
  const cl::CommandQueue q = queue();
  const Block block = device().memory().allocate(63);
  DeviceInfo other = device().info();
  other.memory.is_unified = !other.memory.is_unified;
  const auto sent = pattern(63, 5);
  write_buffer(q, other, block.buffer(), 0, sent);
  std::vector<std::byte> got(63);
  read_buffer(q, device().info(), block.buffer(), 0, got);
  EXPECT_EQ(got, sent);
  const auto second = pattern(63, 9);
  write_buffer(q, device().info(), block.buffer(), 0, second);
  read_buffer(q, other, block.buffer(), 0, got);
  EXPECT_EQ(got, second);
}

/// Both ways: through a mapping and by commands for rectangles.
TEST_P(DeviceMemory, StretchesLeaveWhatLiesBetweenThem) {
  const cl::CommandQueue q = queue();
  const Block block = device().memory().allocate(63);
  const Block copy = device().memory().allocate(63);
  const Stretches stretches{3, 5, 4, 13};
  const Stretches dense{1, 5, 4, 5};
  for (const bool unified : {true, false}) {
    SCOPED_TRACE(unified ? "mapped" : "by commands");
    DeviceInfo info = device().info();
    info.memory.is_unified = unified;
    auto expected = pattern(63, 5);
    write_buffer(q, info, block.buffer(), 0, expected);
    write_buffer(q, info, copy.buffer(), 0, expected);
    const auto sent = pattern(20, 90);
    write_stretches(q, info, block.buffer(), stretches, sent);
    for (std::size_t i = 0; i < 20; ++i) expected[3 + i / 5 * 13 + i % 5] = sent[i];
    std::vector<std::byte> got(63);
    read_buffer(q, info, block.buffer(), 0, got);
    EXPECT_EQ(got, expected);
    std::vector<std::byte> back(20);
    read_stretches(q, info, block.buffer(), stretches, back);
    EXPECT_EQ(back, sent);
    enqueue_copy(q, info, {block.buffer(), stretches}, {copy.buffer(), dense});
    read_stretches(q, info, copy.buffer(), dense, back);
    EXPECT_EQ(back, sent);
    EXPECT_THROW(write_stretches(q, info, block.buffer(), {12, 5, 4, 1 << 28}, sent),
                 InternalError);
    EXPECT_THROW(read_stretches(q, info, block.buffer(), {0, 5, 4, 4}, back), InternalError);
  }
}

/// The host goes on while the writes wait: each command behind a write sees that write's bytes,
/// though the caller's are gone and another write follows.
TEST_P(DeviceMemory, StagedWritesKeepTheirOrderAndTheirBytes) {
  constexpr std::size_t kBytes = 40'000;
  constexpr int kWrites = 8;
  const cl::CommandQueue q = queue();
  const Block target = device().memory().allocate(kBytes);
  const Block kept = device().memory().allocate(kBytes * kWrites);
  StagedWrite write;
  for (int i = 0; i < kWrites; ++i) {
    std::vector<std::byte> sent = pattern(kBytes, i);
    write.enqueue(q, device().info(), target.buffer(), sent);
    std::fill(sent.begin(), sent.end(), std::byte{0});
    q.enqueueCopyBuffer(target.buffer(), kept.buffer(), 0, static_cast<std::size_t>(i) * kBytes,
                        kBytes);
  }
  std::vector<std::byte> got(kBytes * kWrites);
  std::vector<std::byte> last(kBytes);
  const std::vector<BufferRead> reads{{kept.buffer(), got}, {target.buffer(), last}};
  read_buffers(q, device().info(), reads);
  for (int i = 0; i < kWrites; ++i) {
    const std::vector<std::byte> part(got.begin() + i * static_cast<std::ptrdiff_t>(kBytes),
                                      got.begin() + (i + 1) * static_cast<std::ptrdiff_t>(kBytes));
    EXPECT_EQ(part, pattern(kBytes, i)) << i;
  }
  EXPECT_EQ(last, pattern(kBytes, kWrites - 1));
}

TEST_P(DeviceMemory, PinnedWritesOfAnySizeGiveTheirBytes) {
  // A part of a piece, several writes, and one that ends within a piece.
  const std::vector<std::size_t> sizes{3, std::size_t{5} << 20, (std::size_t{2} << 20) + 12'345};
  const cl::CommandQueue q = queue();
  const DeviceInfo& info = device().info();
  PinnedWrite write;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Block target = device().memory().allocate(static_cast<std::int64_t>(sizes[i]));
    const std::vector<std::byte> expected = pattern(sizes[i], static_cast<int>(i));
    std::vector<std::byte> sent = expected;
    write.enqueue(q, info, target.buffer(), sent);
    std::fill(sent.begin(), sent.end(), std::byte{0});
    std::vector<std::byte> got(sizes[i]);
    read_buffer(q, info, target.buffer(), 0, got);
    EXPECT_TRUE(got == expected) << sizes[i];
  }
}

TEST_P(DeviceMemory, SeveralReadsOfAnySizeGiveTheirBytes) {
  const cl::CommandQueue q = queue();
  const std::vector<std::size_t> sizes{1, 4096, static_cast<std::size_t>(kStagedBytes) + 4, 0, 8};
  std::vector<Block> blocks;
  std::vector<std::vector<std::byte>> got;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    blocks.push_back(device().memory().allocate(static_cast<std::int64_t>(sizes[i]) + 1));
    write_buffer(q, device().info(), blocks[i].buffer(), 0, pattern(sizes[i], static_cast<int>(i)));
    got.emplace_back(sizes[i]);
  }
  std::vector<BufferRead> reads;
  for (std::size_t i = 0; i < sizes.size(); ++i) reads.push_back({blocks[i].buffer(), got[i]});
  // Asleep; asking for an instant and for long.
  for (const double asking_us : {0.0, 1e-3, 1e6}) {
    for (std::vector<std::byte>& bytes : got) std::fill(bytes.begin(), bytes.end(), std::byte{0});
    read_buffers(q, device().info(), reads, asking_us);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(got[i], pattern(sizes[i], static_cast<int>(i))) << i << ", " << asking_us;
    }
  }
}

TEST_P(DeviceMemory, RangesOutsideTheBufferAreRefused) {
  const cl::CommandQueue q = queue();
  const Block block = device().memory().allocate(100);
  std::vector<std::byte> bytes(static_cast<std::size_t>(block.bytes()) + 1);
  const DeviceInfo& info = device().info();
  EXPECT_THROW(write_buffer(q, info, block.buffer(), 0, bytes), InternalError);
  EXPECT_THROW(write_buffer(q, info, block.buffer(), -1, std::span(bytes).first(1)), InternalError);
  EXPECT_THROW(StagedWrite().enqueue(q, info, block.buffer(), bytes), InternalError);
  EXPECT_THROW(read_buffer(q, info, block.buffer(), block.bytes(), std::span(bytes).first(1)),
               InternalError);
  EXPECT_THROW(read_buffer(q, info, block.buffer(), INT64_MAX, std::span(bytes).first(1)),
               InternalError);
}

TEST_P(DeviceMemory, AMappingIsTheBuffer) {
  using Access = MappedBuffer::Access;
  const cl::CommandQueue q = queue();
  const Block block = device().memory().allocate(63);
  const auto sent = pattern(17, 1);
  {
    MappedBuffer mapped(q, device().info(), block.buffer(), {3, 17}, Access::overwrite);
    std::memcpy(mapped.bytes().data(), sent.data(), 17);
    mapped.unmap();
    EXPECT_TRUE(mapped.bytes().empty());
  }
  {
    MappedBuffer mapped(q, device().info(), block.buffer(), {3, 17}, Access::read_write);
    EXPECT_EQ(std::memcmp(mapped.bytes().data(), sent.data(), 17), 0);
    mapped.bytes()[16] = std::byte{99};
  }
  const MappedBuffer mapped(q, device().info(), block.buffer(), {19, 1}, Access::read);
  EXPECT_EQ(mapped.bytes()[0], std::byte{99});
}

TEST_P(DeviceMemory, SlicesShareTheBlock) {
  const cl::CommandQueue q = queue();
  const std::int64_t step = device().info().memory.base_alignment_bytes;
  const Block block = device().memory().allocate(3 * step);
  const cl::Buffer middle = block.slice(step, 63);
  const auto sent = pattern(63, 3);
  write_buffer(q, device().info(), middle, 0, sent);
  std::vector<std::byte> got(63);
  read_buffer(q, device().info(), block.buffer(), step, got);
  EXPECT_EQ(got, sent);
  EXPECT_THROW((void)block.slice(1, 4), InternalError);
  EXPECT_THROW((void)block.slice(0, 0), InternalError);
  EXPECT_THROW((void)block.slice(-step, 4), InternalError);
  EXPECT_THROW((void)block.slice(0, block.bytes() + 1), InternalError);
  EXPECT_THROW((void)block.slice(step, INT64_MAX), InternalError);
  EXPECT_THROW((void)Block().slice(0, 1), InternalError);
  EXPECT_THROW((void)Block().buffer(), InternalError);
}

}  // namespace
}  // namespace morton::test
