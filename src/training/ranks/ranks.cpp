// SPDX-License-Identifier: Apache-2.0
#include "training/ranks/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "training/ranks/wire.hpp"

namespace morton::training {
namespace {

/// Slices begin at multiples of so many values: a line of a processor's cache.
constexpr std::size_t kSliceStep = 16;
/// Values that are added for all ranks before the next ones: they stay in a processor's cache.
constexpr std::size_t kAddedAtOnce = 4096;

std::span<const std::byte> bytes_of(std::span<const float> values) { return std::as_bytes(values); }

/// For a small message in whose buffer each rank has equally many bytes.
std::vector<std::size_t> alike(int size, std::size_t bytes) {
  return std::vector<std::size_t>(static_cast<std::size_t>(size), bytes);
}

}  // namespace

Ranks::Ranks(const RankOptions& options, std::int64_t batch) : options_(options) {
  if (options_.communicator != nullptr) {
    rank_ = options_.communicator->rank();
    size_ = options_.communicator->size();
  }
  if (options_.sum == RankOptions::Sum::fast && options_.wire == RankOptions::Wire::f16) {
    throw UsageError(setting("wire", "f16") + ": needs sums in the order of ranks; with the " +
                     "communicator's own sums gradients stay f32");
  }
  shares_ = shares_of(batch, size_, options_.shares);
}

std::vector<double> Ranks::gather(std::span<const double> own) {
  std::vector<double> all(own.begin(), own.end());
  if (!are_several()) return all;
  all.resize(own.size() * static_cast<std::size_t>(size_));
  options_.communicator->gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)),
                                alike(size_, own.size_bytes()));
  return all;
}

bool Ranks::any(bool own) {
  if (!are_several()) return own;
  const double number = own ? 1.0 : 0.0;
  const std::vector<double> all = gather({&number, 1});
  return std::ranges::any_of(all, [](double one) { return one != 0.0; });
}

std::string Ranks::from_first(const std::string& bytes) {
  if (!are_several()) return bytes;
  const auto length = static_cast<double>(bytes.size());
  const auto first = static_cast<std::size_t>(gather({&length, 1}).front());
  std::vector<std::size_t> lengths = alike(size_, 0);
  lengths.front() = first;
  std::string all(first, '\0');
  const std::span<const char> own(bytes.data(), is_first() ? bytes.size() : 0);
  options_.communicator->gather(std::as_bytes(own), std::as_writable_bytes(std::span<char>(all)),
                                lengths);
  return all;
}

std::vector<Ranks::Slice> Ranks::slices(std::size_t values) const {
  const auto size = static_cast<std::size_t>(size_);
  const std::size_t steps = (values + kSliceStep - 1) / kSliceStep;
  std::vector<Slice> all;
  for (std::size_t r = 0; r < size; ++r) {
    const std::size_t first = std::min(values, steps * r / size * kSliceStep);
    const std::size_t end = std::min(values, steps * (r + 1) / size * kSliceStep);
    all.push_back({first, end - first});
  }
  return all;
}

void Ranks::sum(std::span<float> values, std::size_t gradients) {
  if (!are_several()) return;
  if (options_.sum == RankOptions::Sum::fast) return options_.communicator->sum(values);
  if (options_.wire == RankOptions::Wire::f32) return sum_in_order(values);
  sum_halves_in_order(values.first(gradients));
  if (values.size() > gradients) sum_in_order(values.subspan(gradients));
}

void Ranks::sum_in_order(std::span<float> values) {
  const std::vector<Slice> all = slices(values.size());
  std::vector<std::size_t> sent;
  for (const Slice& slice : all) sent.push_back(slice.count * sizeof(float));
  const auto own = all[static_cast<std::size_t>(rank_)];
  const auto size = static_cast<std::size_t>(size_);
  received_.resize(own.count * size);
  options_.communicator->exchange(bytes_of(values), sent,
                                  std::as_writable_bytes(std::span(received_)),
                                  alike(size_, own.count * sizeof(float)));
  for (std::size_t first = 0; first < own.count; first += kAddedAtOnce) {
    const std::size_t count = std::min(kAddedAtOnce, own.count - first);
    float* sums = received_.data() + first;
    // One process begins with zeros too, where -0 becomes 0.
    for (std::size_t i = 0; i < count; ++i) sums[i] = 0.0F + sums[i];
    for (std::size_t r = 1; r < size; ++r) {
      const float* others = received_.data() + r * own.count + first;
      for (std::size_t i = 0; i < count; ++i) sums[i] += others[i];
    }
  }
  options_.communicator->gather(bytes_of(std::span(received_).first(own.count)),
                                std::as_writable_bytes(values), sent);
}

void Ranks::sum_halves_in_order(std::span<float> values) {
  const std::vector<Slice> all = slices(values.size());
  std::vector<std::size_t> sent;
  for (const Slice& slice : all) sent.push_back(bytes_of_halves(slice.count));
  const std::size_t sent_bytes = std::accumulate(sent.begin(), sent.end(), std::size_t{0});
  const auto own = all[static_cast<std::size_t>(rank_)];
  const std::size_t own_bytes = sent[static_cast<std::size_t>(rank_)];
  const auto size = static_cast<std::size_t>(size_);
  sent_halves_.resize(std::max(sent_bytes, own_bytes * size));
  received_halves_.resize(sent_halves_.size());
  const auto each = [&](const auto& one) {
    std::size_t at = 0;
    for (std::size_t r = 0; r < size; at += sent[r++]) one(all[r], at, sent[r]);
  };
  each([&](const Slice& slice, std::size_t at, std::size_t bytes) {
    to_halves(values.subspan(slice.first, slice.count), std::span(sent_halves_).subspan(at, bytes));
  });
  options_.communicator->exchange(std::span(sent_halves_).first(sent_bytes), sent,
                                  std::span(received_halves_).first(own_bytes * size),
                                  alike(size_, own_bytes));
  received_.assign(own.count * 2, 0.0F);
  const std::span<float> sums = std::span(received_).first(own.count);
  const std::span<float> others = std::span(received_).subspan(own.count);
  for (std::size_t r = 0; r < size; ++r) {
    from_halves(std::span(received_halves_).subspan(r * own_bytes, own_bytes), others);
    for (std::size_t i = 0; i < own.count; ++i) sums[i] += others[i];
  }
  // The rounded sums are this rank's too: all have the same.
  to_halves(sums, std::span(sent_halves_).first(own_bytes));
  options_.communicator->gather(std::span(sent_halves_).first(own_bytes),
                                std::span(received_halves_).first(sent_bytes), sent);
  each([&](const Slice& slice, std::size_t at, std::size_t bytes) {
    from_halves(std::span(received_halves_).subspan(at, bytes),
                values.subspan(slice.first, slice.count));
  });
}

}  // namespace morton::training
