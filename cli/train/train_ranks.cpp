// SPDX-License-Identifier: Apache-2.0
#include "train/train_ranks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/error_status.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// How long a rank waits with an error that the first one may have too, and tell first.
constexpr auto kFirstRanksTime = std::chrono::seconds(1);

int end_all(Communicator& communicator, const std::string& message, int status) {
  if (communicator.rank() > 0) std::this_thread::sleep_for(kFirstRanksTime);
  print_error(fmt::format("rank {} of {}: {}", communicator.rank(), communicator.size(), message),
              "All ranks end. --resume goes on from the last checkpoint.");
  communicator.abort(status);
  return status;
}

}  // namespace

std::shared_ptr<Communicator> communicator_for(const TrainOptions& options) {
  const std::optional<int> started = mpirun_size();
  const bool asked = options.ranks == TrainOptions::Ranks::mpi;
  if (asked || (options.ranks == TrainOptions::Ranks::automatic && started)) {
    std::shared_ptr<Communicator> communicator = mpi_communicator();
    if (communicator->rank() > 0) start_log(Verbosity::quiet);
    return communicator;
  }
  const RankOptions& ranks = options.trainer.ranks;
  const bool wants_ranks = !ranks.shares.empty() || ranks.sum != RankOptions::Sum::ordered ||
                           ranks.wire != RankOptions::Wire::f32;
  if (wants_ranks) {
    throw UsageError("--shares, --sum and --wire are for several ranks: start them with mpirun");
  }
  return nullptr;
}

bool is_first_rank(const TrainOptions& options) {
  const auto& communicator = options.trainer.ranks.communicator;
  return communicator == nullptr || communicator->rank() == 0;
}

void take_folder_away(TrainOptions& options) {
  options.run.folder.clear();
  options.run.start = TrainingRunOptions::Start::in_empty_folder;
}

void say_ranks(const TrainOptions& options) {
  const RankOptions& ranks = options.trainer.ranks;
  if (ranks.communicator == nullptr) return;
  const char* sums = ranks.sum == RankOptions::Sum::fast ? "in MPI's own order"
                     : ranks.wire == RankOptions::Wire::f16
                         ? "in the order of ranks, and travel as halves"
                         : "in the order of ranks";
  log::info("MPI: {} ranks share each batch of {}; gradients are added {}",
            ranks.communicator->size(), options.trainer.batch, sums);
}

int train_as_rank(const TrainOptions& options, const std::function<int()>& train) {
  const auto& communicator = options.trainer.ranks.communicator;
  if (communicator == nullptr || communicator->size() == 1) return train();
  try {
    return train();
  } catch (const Error& error) {
    return end_all(*communicator, message_of(error), status_of(error.error_class()));
  } catch (const std::exception& error) {
    return end_all(*communicator, error.what(), kInternalStatus);
  }
}

}  // namespace morton::cli
