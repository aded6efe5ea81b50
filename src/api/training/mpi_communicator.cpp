// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/training/mpi_module.hpp"
#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "device/workers/helper_file.hpp"
#include "morton/communicator.hpp"

namespace morton {
using namespace api;
namespace {

constexpr const char* kModuleFile = "morton-mpi.so";

const MpiModule& loaded_module() {
  const std::string path = helper_file(kModuleFile);
  if (path.empty()) {
    throw UnsupportedError(
        std::string("MPI: ") + kModuleFile +
        " is not installed; a build where libopenmpi-dev is installed has it, in libexec/morton "
        "(docs/distributed.md)");
  }
  // Open MPI's own modules look for the symbols of its library among all.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw UnsupportedError("MPI: " + std::string(::dlerror()) +
                           "; is Open MPI installed (Debian: openmpi-bin)?");
  }
  const auto entry = reinterpret_cast<MpiModuleEntry>(::dlsym(library, kMpiModuleEntry));
  const MpiModule* const module = entry == nullptr ? nullptr : entry();
  if (module == nullptr || module->version != kMpiModuleVersion) {
    throw UnsupportedError("MPI: " + path + " is of another version of Morton");
  }
  return *module;
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() : module_(loaded_module()) { check(module_.begin(&rank_, &size_)); }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  ~MpiCommunicator() override {
    // The others would wait in vain for one that failed to reach them.
    if (!has_failed_) module_.end();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void exchange(std::span<const std::byte> sent, std::span<const std::size_t> sent_bytes,
                std::span<std::byte> received,
                std::span<const std::size_t> received_bytes) override {
    check(module_.exchange(sent.data(), sent_bytes.data(), received.data(), received_bytes.data()));
  }
  void gather(std::span<const std::byte> own, std::span<std::byte> all,
              std::span<const std::size_t> bytes) override {
    check(module_.gather(own.data(), all.data(), bytes.data()));
  }
  void sum(std::span<float> values) override { check(module_.sum(values.data(), values.size())); }
  void abort(int status) override {
    module_.abort(status);
    std::_Exit(status);
  }

 private:
  void check(const char* why) {
    if (why == nullptr) return;
    has_failed_ = true;
    throw DeviceError("MPI: rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ": " +
                      why);
  }

  const MpiModule& module_;
  int rank_ = 0, size_ = 1;
  bool has_failed_ = false;
};

}  // namespace

std::shared_ptr<Communicator> mpi_communicator() {
  static std::mutex mutex;
  static std::weak_ptr<Communicator> made;
  static bool was_made = false;
  const std::lock_guard lock(mutex);
  if (std::shared_ptr<Communicator> there = made.lock()) return there;
  if (was_made) throw UsageError("MPI: ended with its communicator; a process has it once");
  auto fresh = std::make_shared<MpiCommunicator>();
  made = fresh;
  was_made = true;
  return fresh;
}

std::optional<int> mpirun_size() {
  const std::optional<std::string> text = environment_variable("OMPI_COMM_WORLD_SIZE");
  if (!text) return std::nullopt;
  const int size = std::atoi(text->c_str());
  return size > 0 ? std::optional<int>(size) : std::nullopt;
}

}  // namespace morton
