// SPDX-License-Identifier: Apache-2.0
// morton-mpi.so: what libmorton asks of MPI (src/api/training/mpi_module.hpp).
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "api/training/mpi_module.hpp"

namespace {

int ranks = 1, own_rank = 0;
std::string failure;

const char* text_of(int status) {
  if (status == MPI_SUCCESS) return nullptr;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  failure.assign(text, static_cast<std::size_t>(length));
  return failure.c_str();
}

/// Lengths and places of parts that follow each other, in units of `unit` bytes.
struct Parts {
  std::vector<int> counts, places;
};

/// MPI counts in int: with units of 4 bytes, as f32 has, 8 GiB fit.
bool make_parts(const std::size_t* bytes, std::size_t unit, Parts& parts) {
  std::size_t at = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::size_t count = bytes[r] / unit;
    if (count > INT_MAX || at > INT_MAX) return false;
    parts.counts.push_back(static_cast<int>(count));
    parts.places.push_back(static_cast<int>(at));
    at += count;
  }
  return true;
}

bool are_floats(const std::size_t* bytes) {
  return std::all_of(bytes, bytes + ranks,
                     [](std::size_t length) { return length % sizeof(float) == 0; });
}

constexpr const char* kTooLarge = "a message has more elements than MPI can count";

const char* begin(int* rank, int* size) {
  int given = 0;
  // PoCL and Morton have threads of their own; one of them at a time calls MPI.
  if (const char* why = text_of(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given))) {
    return why;
  }
  if (given < MPI_THREAD_SERIALIZED) return "MPI was built without support for threads";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  *rank = own_rank;
  *size = ranks;
  return nullptr;
}

void end() { MPI_Finalize(); }

const char* exchange(const void* sent, const std::size_t* sent_bytes, void* received,
                     const std::size_t* received_bytes) {
  if (!are_floats(sent_bytes) || !are_floats(received_bytes)) {
    return "lengths of what ranks exchange must be multiples of 4 bytes";
  }
  Parts from, to;
  if (!make_parts(sent_bytes, sizeof(float), from) ||
      !make_parts(received_bytes, sizeof(float), to)) {
    return kTooLarge;
  }
  return text_of(MPI_Alltoallv(sent, from.counts.data(), from.places.data(), MPI_FLOAT, received,
                               to.counts.data(), to.places.data(), MPI_FLOAT, MPI_COMM_WORLD));
}

const char* gather(const void* own, void* all, const std::size_t* bytes) {
  // All ranks have the same lengths, so all take the same type.
  const bool floats = are_floats(bytes);
  const MPI_Datatype type = floats ? MPI_FLOAT : MPI_BYTE;
  Parts parts;
  if (!make_parts(bytes, floats ? sizeof(float) : 1, parts)) return kTooLarge;
  return text_of(MPI_Allgatherv(own, parts.counts[static_cast<std::size_t>(own_rank)], type, all,
                                parts.counts.data(), parts.places.data(), type, MPI_COMM_WORLD));
}

const char* sum(float* values, std::size_t count) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (count > 0) {
    const std::size_t some = std::min(count, kMost);
    if (const char* why = text_of(MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(some),
                                                MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD))) {
      return why;
    }
    values += some;
    count -= some;
  }
  return nullptr;
}

void abort_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

const morton::api::MpiModule module_functions{
    morton::api::kMpiModuleVersion, begin, end, exchange, gather, sum, abort_all};

}  // namespace

extern "C" __attribute__((visibility("default"))) const morton::api::MpiModule*
morton_mpi_module() {
  return &module_functions;
}
