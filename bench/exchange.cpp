// SPDX-License-Identifier: Apache-2.0
//
// How long ranks take to add their gradients up: what ./dev bench scale feeds its model with.
//
//     mpirun -n RANKS exchange NUMBERS
//
// Prints, by the first rank, the median of the seconds in which all ranks have the sums of so many
// f32, which each first copies, as it copies gradients from its device.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "morton/communicator.hpp"
#include "training/ranks/ranks.hpp"

int main(int argc, char** argv) {
  const long numbers = argc == 2 ? std::atol(argv[1]) : 0;
  if (numbers < 1) {
    std::fprintf(stderr, "usage: mpirun -n RANKS exchange NUMBERS\n");
    return 2;
  }
  try {
    using Clock = std::chrono::steady_clock;
    constexpr int kRounds = 15;
    morton::RankOptions options;
    options.communicator = morton::mpi_communicator();
    morton::training::Ranks ranks(options, options.communicator->size());
    const std::vector<float> gradients(static_cast<std::size_t>(numbers), 1.0F);
    std::vector<float> sums(gradients.size());
    std::vector<double> seconds;
    for (int round = 0; round < kRounds; ++round) {
      static_cast<void>(ranks.any(false));  // all begin together
      const Clock::time_point begun = Clock::now();
      std::ranges::copy(gradients, sums.begin());
      ranks.sum(sums, sums.size());
      static_cast<void>(ranks.any(false));
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + kRounds / 2);
    if (ranks.is_first()) std::printf("%.6f\n", seconds[kRounds / 2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exchange: %s\n", error.what());
    return 1;
  }
}
