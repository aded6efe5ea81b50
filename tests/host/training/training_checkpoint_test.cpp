// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "formats/arrays/safetensors.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"
#include "training/files/checkpoint.hpp"

namespace morton::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Generation `number`, in which every element is the number.
Checkpoint numbered_checkpoint(std::int64_t number) {
  Checkpoint checkpoint;
  Tensor weights = Tensor::allocate(DType::f32, {17, 63});
  for (float& value : weights.as_mutable<float>()) value = static_cast<float>(number);
  checkpoint.tensors = {{"weights", weights}, {"step", Tensor::allocate(DType::i64, {})}};
  checkpoint.put("number", number);
  return checkpoint;
}

/// The number of a checkpoint made by `numbered`; fails where it is of several.
std::int64_t number_of(const Checkpoint& checkpoint) {
  const std::int64_t number = checkpoint.integer("number");
  EXPECT_THAT(checkpoint.tensor("weights").as<float>(), testing::Each(static_cast<float>(number)));
  return number;
}

TEST(Safetensors, RoundTripOfEveryType) {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (const DType type : {DType::f32, DType::f16, DType::f64, DType::i8, DType::u8, DType::i32,
                           DType::i64, DType::boolean}) {
    Tensor tensor = Tensor::allocate(type, {3, 1});
    for (std::int64_t i = 0; i < 3; ++i) tensor.set(i, static_cast<double>(i % 2));
    tensors.push_back({std::string(name_of(type)), tensor});
  }
  tensors.push_back({"empty", Tensor::allocate(DType::f32, {0, 4})});
  tensors.push_back({"scalar", Tensor::allocate(DType::f32, {})});
  write_safetensors(folder / "a.safetensors", tensors, {{"a", "b \"c\""}});
  const SafeTensors read = read_safetensors(folder / "a.safetensors");
  EXPECT_EQ(read.texts, (std::map<std::string, std::string>{{"a", "b \"c\""}}));
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (const NamedTensor& written : tensors) {
    const auto same = std::find_if(read.tensors.begin(), read.tensors.end(),
                                   [&](const NamedTensor& t) { return t.name == written.name; });
    ASSERT_NE(same, read.tensors.end()) << written.name;
    EXPECT_EQ(same->tensor.dtype(), written.tensor.dtype());
    EXPECT_EQ(same->tensor.shape(), written.tensor.shape());
    EXPECT_TRUE(std::equal(same->tensor.data(), same->tensor.data() + same->tensor.bytes(),
                           written.tensor.data()));
  }
  tensors.push_back(tensors.front());
  EXPECT_THAT(message_of<UsageError>([&] { (void)safetensors_header(tensors, {}); }),
              HasSubstr("'f32'"));
}

TEST(Safetensors, RefusesWhatTheFormatDoesNotAllow) {
  TemporaryFolder folder;
  const auto file = [&](const std::string& header, const std::string& data) {
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    return write_bytes(folder / "bad.safetensors", length + header + data);
  };
  const auto error = [&](const std::string& header, const std::string& data) {
    const auto path = file(header, data);
    return message_of<ModelError>([&] { (void)read_safetensors(path); });
  };
  const auto tensor = [](const std::string& shape, const std::string& offsets) {
    return R"({"t":{"dtype":"U8","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_EQ(read_safetensors(file(tensor("[2]", "[0,2]"), "ab")).tensors.size(), 1U);
  EXPECT_THAT(error(tensor("[2]", "[0,2]"), "a"), HasSubstr("got 0 to 2"));
  EXPECT_THAT(error(tensor("[2]", "[0,2]"), "abc"), HasSubstr("1 bytes are left over"));
  EXPECT_THAT(error(tensor("[2]", "[1,3]"), "abc"), HasSubstr("expected its bytes from 0"));
  EXPECT_THAT(error(tensor("[3]", "[0,2]"), "ab"), HasSubstr("a shape 3 of 3 bytes"));
  error(tensor("[-1]", "[0,2]"), "ab");
  error(tensor("[4611686018427387904,4]", "[0,0]"), "");
  error(tensor("[2]", "[0]"), "ab");
  error(tensor("[2]", "[2,0]"), "ab");
  error("[]", "");
  error(R"({"__metadata__":{"a":1}})", "");
  EXPECT_THROW((void)read_safetensors(
                   file(R"({"t":{"dtype":"C64","shape":[2],"data_offsets":[0,2]}})", "ab")),
               UnsupportedError);
}

/// Whatever can be written can be read.
TEST(Safetensors, ManyTensorsAndBracesAreRead) {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 20000; ++i) {
    tensors.push_back({"{" + std::to_string(i), Tensor::from({1}, std::vector<float>{1})});
  }
  write_safetensors(folder / "many.safetensors", tensors, {});
  const SafeTensors read = read_safetensors(folder / "many.safetensors");
  ASSERT_EQ(read.tensors.size(), tensors.size());
  EXPECT_EQ(read.tensors.back().name, "{19999");
}

TEST(Safetensors, WritesNoHeaderThatCannotBeRead) {
  const std::map<std::string, std::string> texts{{"text", std::string(100'000'000, 'x')}};
  EXPECT_THAT(message_of<UsageError>([&] { (void)safetensors_header({}, texts); }),
              HasSubstr("a file has room for 100000000"));
}

TEST(Checkpoint, KeepsNumbersExactly) {
  TemporaryFolder folder;
  CheckpointStore store(folder.path() / "inner");
  EXPECT_FALSE(store.read().has_value());
  Checkpoint checkpoint = numbered_checkpoint(3);
  const double third = 1.0 / 3.0;
  checkpoint.put("third", third);
  checkpoint.put("infinite", std::numeric_limits<double>::infinity());
  checkpoint.put("seed", std::numeric_limits<std::uint64_t>::max());
  checkpoint.put("schedule", "cosine:warmup=500");
  store.write(checkpoint);
  const Checkpoint read = store.read()->checkpoint;
  EXPECT_EQ(read.real("third"), third);
  EXPECT_TRUE(std::isinf(read.real("infinite")));
  EXPECT_EQ(read.natural("seed"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read.text("schedule"), "cosine:warmup=500");
  EXPECT_EQ(number_of(read), 3);
  EXPECT_THAT(message_of<ModelError>([&] { (void)read.real("momentum"); }),
              AllOf(HasSubstr("checkpoint.safetensors"), HasSubstr("has no 'momentum'")));
  EXPECT_THAT(message_of<ModelError>([&] { (void)read.tensor("momentum"); }),
              HasSubstr("has no 'momentum'"));
  EXPECT_THAT(message_of<ModelError>([&] { (void)read.integer("schedule"); }),
              HasSubstr("expected a whole number"));
}

TEST(Checkpoint, KeepsAnyNames) {
  TemporaryFolder folder;
  const std::vector<std::string> names{"a\nb", "", "\"c\", \\", "\xc3\xa4"};
  Checkpoint checkpoint;
  checkpoint.put("names", names);
  checkpoint.put("text", "a\nb");
  write_checkpoint(folder / "a.safetensors", checkpoint);
  const Checkpoint read = read_checkpoint(folder / "a.safetensors");
  EXPECT_EQ(read.names("names"), names);
  EXPECT_THAT(message_of<ModelError>([&] { (void)read.names("text"); }),
              AllOf(HasSubstr("a.safetensors: 'text'"), HasSubstr("JSON")));
  EXPECT_THROW(checkpoint.put("names", std::vector<std::string>{"\xff"}), UsageError);
}

TEST(Checkpoint, KeepsTwoGenerations) {
  TemporaryFolder folder;
  CheckpointStore store(folder.path());
  for (std::int64_t number = 1; number <= 3; ++number) store.write(numbered_checkpoint(number));
  EXPECT_EQ(number_of(read_checkpoint(store.newest())), 3);
  EXPECT_EQ(number_of(read_checkpoint(store.previous())), 2);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);
}

TEST(Checkpoint, EveryDamagedByteIsFound) {
  TemporaryFolder folder;
  CheckpointStore store(folder.path());
  Checkpoint small;
  small.tensors = {{"w", Tensor::from({3}, std::vector<float>{1, 2, 3})}};
  small.put("step", std::int64_t{7});
  store.write(small);
  const std::string good = bytes_of_file(store.newest());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_bytes(store.newest(), bad);
    EXPECT_THROW((void)read_checkpoint(store.newest()), Error) << "byte " << at;
  }
  const auto read = [&](const std::string& bytes) {
    (void)read_checkpoint(write_bytes(store.newest(), bytes));
  };
  Hostility hostility(read);
  hostility.truncate(good);
  EXPECT_EQ(hostility.accepted, 0);
}

TEST(Checkpoint, ADamagedNewestOneIsNamedAndThePreviousOneTaken) {
  TemporaryFolder folder;
  CheckpointStore store(folder.path());
  store.write(numbered_checkpoint(1));
  store.write(numbered_checkpoint(2));
  std::string bytes = bytes_of_file(store.newest());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(store.newest(), bytes);
  const auto found = store.read();
  EXPECT_EQ(number_of(found->checkpoint), 1);
  EXPECT_THAT(found->damage, AllOf(HasSubstr("checkpoint.safetensors"), HasSubstr("is damaged")));

  // Who goes on from there keeps the good one until there are two again.
  CheckpointStore later(folder.path());
  later.write(numbered_checkpoint(2));
  EXPECT_EQ(number_of(read_checkpoint(store.newest())), 2);
  EXPECT_EQ(number_of(read_checkpoint(store.previous())), 1);

  write_bytes(store.newest(), bytes);
  write_bytes(store.previous(), "nothing");
  EXPECT_THAT(message_of<ModelError>([&] { (void)store.read(); }),
              AllOf(HasSubstr("no good checkpoint is left"), HasSubstr("previous.safetensors")));
}

/// tests/model/check_training_files.py runs it, and reads what it leaves behind.
TEST(Checkpoint, DISABLED_LeavesFilesForOthersToRead) {
  const char* folder = std::getenv("MORTON_TEST_OUTPUT");
  ASSERT_NE(folder, nullptr);
  CheckpointStore(folder).write(numbered_checkpoint(7));
}

/// Writes generation after generation, and says each that is finished, until it is killed.
[[noreturn]] void write_forever(const std::filesystem::path& folder, int said) {
  ::setenv("MORTON_SLOW_WRITES", "1", 1);
  CheckpointStore store(folder);
  const auto found = store.read();
  for (std::int64_t number = found ? number_of(found->checkpoint) + 1 : 1;; ++number) {
    store.write(numbered_checkpoint(number));
    if (::write(said, &number, sizeof number) != sizeof number) ::_exit(1);
  }
}

TEST(Checkpoint, AKillAtAnyMomentLosesNone) {
  constexpr unsigned kSeed = 20240613;
  constexpr int kKills = 25;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  TemporaryFolder folder;
  std::int64_t finished = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_forever(folder.path(), ends[1]);
    ::close(ends[1]);
    // A checkpoint takes about 40 ms: the kills fall into the middle of one.
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 60));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (std::int64_t number = 0; ::read(ends[0], &number, sizeof number) == sizeof number;) {
      finished = number;
    }
    ::close(ends[0]);
    const auto found = CheckpointStore(folder.path()).read();
    if (!found) {
      EXPECT_EQ(finished, 0) << "kill " << kill;
      continue;
    }
    EXPECT_EQ(found->damage, "");
    // The last one that was said to be finished, or the one after it.
    const std::int64_t number = number_of(found->checkpoint);
    EXPECT_GE(number, finished) << "kill " << kill;
    EXPECT_LE(number, finished + 1) << "kill " << kill;
    finished = number;
  }
  EXPECT_GT(finished, 3);
}

}  // namespace
}  // namespace morton::test
