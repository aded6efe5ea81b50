// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of one process, for tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "morton/communicator.hpp"

namespace morton::test {

/// What the threads of a job share: the bytes that each offers, until all have looked at them.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size)
      : offered_(static_cast<std::size_t>(size)), lengths_(offered_.size()), barrier_(size) {}

  /// Calls `one` in a thread for each rank; the first exception of a rank is thrown again.
  static void run(int size, const std::function<void(std::shared_ptr<Communicator>)>& one);

 private:
  friend class ThreadCommunicator;
  /// What ends a rank when another one has failed.
  struct AnotherFailed {};

  /// Waits for the others.
  void meet() {
    barrier_.arrive_and_wait();
    if (has_failed_) throw AnotherFailed();
  }

  std::vector<std::span<const std::byte>> offered_;
  std::vector<std::span<const std::size_t>> lengths_;
  std::barrier<> barrier_;
  std::atomic<bool> has_failed_ = false;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(ThreadRanks& ranks, int rank) : ranks_(ranks), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.offered_.size()); }

  void exchange(std::span<const std::byte> sent, std::span<const std::size_t> sent_bytes,
                std::span<std::byte> received,
                std::span<const std::size_t> received_bytes) override {
    offer(sent, sent_bytes);
    std::size_t to = 0;
    for (std::size_t r = 0; r < ranks_.offered_.size(); ++r) {
      std::size_t from = 0;
      for (int before = 0; before < rank_; ++before) {
        from += ranks_.lengths_[r][static_cast<std::size_t>(before)];
      }
      const std::size_t count = ranks_.lengths_[r][static_cast<std::size_t>(rank_)];
      if (count != received_bytes[r] || count % 4 != 0) throw std::logic_error("other lengths");
      copy(ranks_.offered_[r].subspan(from, count), received.subspan(to, count));
      to += count;
    }
    ranks_.meet();
  }
  void gather(std::span<const std::byte> own, std::span<std::byte> all,
              std::span<const std::size_t> bytes) override {
    offer(own, bytes);
    std::size_t to = 0;
    for (std::size_t r = 0; r < ranks_.offered_.size(); ++r) {
      if (bytes[r] != ranks_.lengths_[0][r]) throw std::logic_error("other lengths");
      copy(ranks_.offered_[r].first(bytes[r]), all.subspan(to, bytes[r]));
      to += bytes[r];
    }
    ranks_.meet();
  }
  /// From the last rank to the first: another order than the ordered sum's.
  void sum(std::span<float> values) override {
    const std::vector<float> own(values.begin(), values.end());
    offer(std::as_bytes(std::span(own)), {});
    std::ranges::fill(values, 0.0F);
    for (std::size_t r = ranks_.offered_.size(); r-- > 0;) {
      const auto* others = reinterpret_cast<const float*>(ranks_.offered_[r].data());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += others[i];
    }
    ranks_.meet();
  }
  void abort(int /*status*/) override { throw std::logic_error("aborted"); }

 private:
  void offer(std::span<const std::byte> bytes, std::span<const std::size_t> lengths) {
    ranks_.offered_[static_cast<std::size_t>(rank_)] = bytes;
    ranks_.lengths_[static_cast<std::size_t>(rank_)] = lengths;
    ranks_.meet();
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }

  ThreadRanks& ranks_;
  int rank_;
};

inline void ThreadRanks::run(int size,
                             const std::function<void(std::shared_ptr<Communicator>)>& one) {
  ThreadRanks ranks(size);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        one(std::make_shared<ThreadCommunicator>(ranks, rank));
      } catch (const AnotherFailed&) {
        ranks.barrier_.arrive_and_drop();
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
        ranks.has_failed_ = true;
        ranks.barrier_.arrive_and_drop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace morton::test
