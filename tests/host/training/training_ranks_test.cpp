// SPDX-License-Identifier: Apache-2.0
//
// What several ranks do together: shares of a batch, sums in their order, halves on their way,
// a training that all lead alike.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

#include "base/files/file.hpp"
#include "host/fake_learner.hpp"
#include "support/rooms.hpp"
#include "support/thread_ranks.hpp"
#include "training/ranks/ranks.hpp"
#include "training/ranks/wire.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> counts_of(std::int64_t rows, std::int64_t ranks,
                                    const std::vector<double>& weights) {
  std::vector<std::int64_t> counts;
  std::int64_t first = 0;
  for (const Share& share : shares_of(rows, ranks, weights)) {
    EXPECT_EQ(share.first, first);
    counts.push_back(share.count);
    first += share.count;
  }
  EXPECT_EQ(first, rows);
  return counts;
}

/// Another number for each rank and place; some are -0.
float value_at(int rank, std::size_t i) {
  if (i % 7 == 3) return -0.0F;
  return std::sin(static_cast<float>(i) * 1.3F + static_cast<float>(rank)) *
         std::ldexp(1.0F, static_cast<int>(i % 19) - 9);
}

std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_at(rank, i);
  return values;
}

/// As one process adds them, which begins with zeros.
std::vector<float> sums_of(int ranks, std::size_t count) {
  std::vector<float> sums(count, 0.0F);
  for (int r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < count; ++i) sums[i] += value_at(r, i);
  }
  return sums;
}

TEST(TrainingRanks, ShareABatch) {
  EXPECT_THAT(counts_of(100, 1, {}), ElementsAre(100));
  EXPECT_THAT(counts_of(100, 3, {}), ElementsAre(34, 33, 33));
  EXPECT_THAT(counts_of(100, 4, {}), ElementsAre(25, 25, 25, 25));
  EXPECT_THAT(counts_of(3, 3, {}), ElementsAre(1, 1, 1));
  EXPECT_THAT(counts_of(100, 2, {2, 1}), ElementsAre(67, 33));
  EXPECT_THAT(counts_of(7, 3, {0.1, 0.1, 0.1}), ElementsAre(3, 2, 2));
  EXPECT_THAT(message_of<UsageError>([] { (void)shares_of(2, 3, {}); }),
              HasSubstr("no row for rank 2 of 3"));
  const std::vector<double> few{1.0, 1.0}, bad{1.0, 0.0, 1.0};
  EXPECT_THAT(message_of<UsageError>([&] { (void)shares_of(9, 3, few); }),
              HasSubstr("a number for each of the 3 ranks, got 2"));
  EXPECT_THAT(message_of<UsageError>([&] { (void)shares_of(9, 3, bad); }),
              HasSubstr("numbers above 0, got 0"));
}

TEST(TrainingRanks, AddInTheirOrder) {
  for (const int size : {1, 2, 3, 5}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{17}, std::size_t{20000}}) {
      const std::vector<float> expected = sums_of(size, count);
      ThreadRanks::run(size, [&](const std::shared_ptr<Communicator>& communicator) {
        RankOptions options;
        options.communicator = communicator;
        Ranks ranks(options, size);
        std::vector<float> values = values_of(communicator->rank(), count);
        // With one rank nothing is added, so nothing changes.
        const std::vector<float> own = values;
        ranks.sum(values, values.size());
        const std::vector<float>& wanted = size == 1 ? own : expected;
        EXPECT_EQ(std::memcmp(values.data(), wanted.data(), count * sizeof(float)), 0)
            << size << " ranks, " << count << " values";
      });
    }
  }
}

TEST(TrainingRanks, AddAsTheCommunicatorDoes) {
  const std::vector<float> expected = sums_of(3, 1000);
  ThreadRanks::run(3, [&](const std::shared_ptr<Communicator>& communicator) {
    RankOptions options;
    options.communicator = communicator;
    options.sum = RankOptions::Sum::fast;
    Ranks ranks(options, 3);
    std::vector<float> values = values_of(communicator->rank(), 1000);
    ranks.sum(values, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], 1e-6F * 512.0F);
    }
    // The test's communicator adds from the last rank on.
    EXPECT_NE(std::memcmp(values.data(), expected.data(), 1000 * sizeof(float)), 0);
  });
}

TEST(TrainingRanks, AddHalves) {
  const std::vector<float> exact = sums_of(3, 5000);
  std::vector<float> first;
  std::mutex mutex;
  ThreadRanks::run(3, [&](const std::shared_ptr<Communicator>& communicator) {
    RankOptions options;
    options.communicator = communicator;
    options.wire = RankOptions::Wire::f16;
    Ranks ranks(options, 3);
    std::vector<float> values = values_of(communicator->rank(), 5000);
    ranks.sum(values, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Each of three values and their sum is rounded to 11 bits, or to 2^-28 of the greatest.
      EXPECT_NEAR(values[i], exact[i], 4 * std::ldexp(512.0F, -11) + 1e-6F);
    }
    const std::lock_guard lock(mutex);
    if (first.empty()) first = values;
    EXPECT_EQ(std::memcmp(values.data(), first.data(), first.size() * sizeof(float)), 0);
  });
  EXPECT_THAT(message_of<UsageError>([] {
                RankOptions options;
                options.sum = RankOptions::Sum::fast;
                options.wire = RankOptions::Wire::f16;
                (void)Ranks(options, 3);
              }),
              HasSubstr("order of ranks"));
}

/// Running statistics are renewed little by little: rounded to halves they would stand still.
TEST(TrainingRanks, HalvesAreForGradientsAlone) {
  const std::vector<float> exact = sums_of(3, 5000);
  ThreadRanks::run(3, [&](const std::shared_ptr<Communicator>& communicator) {
    RankOptions options;
    options.communicator = communicator;
    options.wire = RankOptions::Wire::f16;
    Ranks ranks(options, 3);
    const std::vector<float> statistics = values_of(communicator->rank(), 5000);
    std::vector<float> values(100, 0.1F);
    values.insert(values.end(), statistics.begin(), statistics.end());
    ranks.sum(values, 100);
    EXPECT_NEAR(values[0], 0.3F, 1e-3F);
    EXPECT_EQ(std::memcmp(values.data() + 100, exact.data(), exact.size() * sizeof(float)), 0);
  });
}

TEST(TrainingRanks, HalvesKeepWhatIsSmall) {
  std::vector<float> values{1e-20F, -3e-21F, 0.0F, 5e-24F};
  values.resize(kHalvesOfAScale + 3, 1e30F);
  values.back() = INFINITY;
  std::vector<std::byte> bytes(bytes_of_halves(values.size()));
  EXPECT_EQ(bytes.size() % 4, 0U);
  to_halves(values, bytes);
  std::vector<float> back(values.size());
  from_halves(bytes, back);
  // 1e30 stands among the first values, so they are small beside it; behind it are others.
  EXPECT_NEAR(back[10] / 1e30F, 1.0F, 1e-3F);
  EXPECT_TRUE(std::isinf(back.back()));
  const std::vector<float> small{1e-20F, -3e-21F, 0.0F, 5e-24F};
  bytes.assign(bytes_of_halves(small.size()), std::byte{});
  to_halves(small, bytes);
  back.resize(small.size());
  from_halves(bytes, back);
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_NEAR(back[i], small[i], 1e-3F * std::fabs(small[i]));
  }
}

TEST(TrainingRanks, TellEachOther) {
  ThreadRanks::run(3, [&](const std::shared_ptr<Communicator>& communicator) {
    RankOptions options;
    options.communicator = communicator;
    Ranks ranks(options, 9);
    const double own = communicator->rank() * 1.5;
    EXPECT_THAT(ranks.gather({&own, 1}), ElementsAre(0.0, 1.5, 3.0));
    EXPECT_TRUE(ranks.any(communicator->rank() == 2));
    EXPECT_FALSE(ranks.any(false));
    EXPECT_EQ(ranks.from_first(communicator->rank() == 0 ? "first" : "other"), "first");
    EXPECT_EQ(ranks.from_first(""), "");
  });
}

/// A learner of some of a batch's rows, whose weight follows the numbers of all ranks.
class RankLearner : public FakeLearner {
 public:
  explicit RankLearner(const std::shared_ptr<Communicator>& communicator)
      : ranks_({communicator, {}, {}, {}}, 3) {}
  PortInfo input() const override { return {"input", DType::f32, {rows(), 1, 4, 4}, {}}; }
  PortInfo target() const override { return {"labels", DType::i32, {rows()}, {}}; }
  BatchResult step(const Tensor& inputs, const Tensor& targets, double learning_rate) override {
    for (std::int64_t i = 0; i < targets.size(); ++i) seen.push_back(targets.at(i));
    BatchResult own = FakeLearner::step(inputs, targets, learning_rate);
    const double loss = own.loss;
    double all = 0.0;
    for (const double one : ranks_.gather({&loss, 1})) all += one;
    begin_at(static_cast<float>(std::fmod(all, 10.0)));
    return {all, -1, 3};
  }
  Ranks& ranks() override { return ranks_; }

  std::vector<double> seen;

 private:
  std::int64_t rows() const { return ranks_.share().count; }
  Ranks ranks_;
};

struct RankOutcome {
  std::vector<double> seen;
  TrainingReport report;
  double weight = 0.0;
};

/// Each rank's; a rank but the first gets a folder that it must not touch.
std::vector<RankOutcome> train_with(int size, const std::filesystem::path& folder,
                                    std::int64_t stop_after) {
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(size));
  ThreadRanks::run(size, [&](const std::shared_ptr<Communicator>& communicator) {
    const int rank = communicator->rank();
    RankLearner learner(communicator);
    TrainingRunOptions options = options_in(rank == 0 ? folder : folder / "not" / "there");
    options.patience = 4;
    // The last rank is told to stop.
    options.stop = [&] { return rank == size - 1 && learner.steps() == stop_after; };
    RankOutcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    outcome.report = run(learner, options);
    outcome.seen = learner.seen;
    outcome.weight = learner.state()[0].tensor.at(0);
  });
  EXPECT_FALSE(std::filesystem::exists(folder / "not"));
  return outcomes;
}

TEST(TrainingRanks, LeadATrainingTogether) {
  TemporaryFolder folder;
  const auto alone = train_with(1, folder / "one", -1);
  const auto both = train_with(2, folder / "two", -1);
  ASSERT_EQ(both[0].report.steps, 20);
  EXPECT_EQ(both[1].report.steps, 20);
  EXPECT_EQ(both[0].weight, both[1].weight);
  EXPECT_EQ(both[0].report.validation_loss, both[1].report.validation_loss);
  // Of each batch of three the first rank has two rows, the second one.
  ASSERT_EQ(both[0].seen.size(), 40U);
  ASSERT_EQ(both[1].seen.size(), 20U);
  for (std::size_t step = 0; step < 20; ++step) {
    EXPECT_EQ(both[0].seen[2 * step], alone[0].seen[3 * step]);
    EXPECT_EQ(both[0].seen[2 * step + 1], alone[0].seen[3 * step + 1]);
    EXPECT_EQ(both[1].seen[step], alone[0].seen[3 * step + 2]);
  }
}

/// Stopped on one rank, all stop; all go on from the first one's checkpoint, on another number too.
TEST(TrainingRanks, StopAndGoOnTogether) {
  TemporaryFolder folder;
  const auto whole = train_with(2, folder / "whole", -1);
  const auto part = train_with(2, folder / "part", 7);
  EXPECT_EQ(part[0].report.end, TrainingReport::End::stopped);
  EXPECT_EQ(part[0].report.steps, 7);
  EXPECT_EQ(part[1].report.steps, 7);
  const auto rest = train_with(2, folder / "part", -1);
  EXPECT_EQ(rest[1].report.resumed_from, 7);
  EXPECT_EQ(rest[0].weight, whole[0].weight);
  EXPECT_EQ(rest[1].weight, whole[1].weight);
  EXPECT_EQ(logged(folder / "part"), logged(folder / "whole"));
  (void)train_with(2, folder / "other", 7);
  const auto others = train_with(3, folder / "other", -1);
  for (const RankOutcome& outcome : others) {
    EXPECT_EQ(outcome.report.resumed_from, 7);
    EXPECT_EQ(outcome.report.steps, 20);
    EXPECT_EQ(outcome.weight, others[0].weight);
  }
}

TEST(TrainingRanks, MustBeAlike) {
  EXPECT_THAT(message_of<UsageError>([] {
                ThreadRanks::run(2, [](const std::shared_ptr<Communicator>& communicator) {
                  RankLearner learner(communicator);
                  TrainingRunOptions options;
                  options.epochs = 1;
                  options.learning_rate = communicator->rank() == 0 ? 0.5 : 0.25;
                  (void)run(learner, options);
                });
              }),
              HasSubstr("rank 1 has another learning rate than rank 0: 0.25 here, 0.5 there"));
  EXPECT_THAT(message_of<UsageError>([] {
                ThreadRanks::run(2, [](const std::shared_ptr<Communicator>& communicator) {
                  RankLearner learner(communicator);
                  learner.begin_at(static_cast<float>(communicator->rank()));
                  TrainingRunOptions options;
                  options.epochs = 1;
                  (void)run(learner, options);
                });
              }),
              HasSubstr("rank 1 has another digest of the parameters at the start"));
}

}  // namespace
}  // namespace morton::test
