// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "launch/launch.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/plan.hpp"

namespace morton::run {

class StreamedWeights;

/// What a plan that was compiled ahead brings along.
struct CompiledAhead {
  /// By program; none at all: they are built from source.
  std::vector<std::string_view> binaries;
  /// Memory of the plan's blocks of weights; empty for other blocks.
  Indexed<BlockId, std::string_view> weights;
  /// Keeps that memory, which the plan uses as it lies where the device shares the host's.
  std::shared_ptr<const void> owner;
};

using OpenClDevices = Indexed<DeviceIndex, std::shared_ptr<OpenClDevice>>;

/// A plan on its devices: programs built, constants uploaded. Immutable once loaded; shared between
/// runners.
class LoadedPlan {
 public:
  /// Builds or finds the programs, packs and uploads the constants, computes what derives from
  /// them. `devices` are the plan's, in its order; `built_one`, unless empty, is called
  /// after each program. Throws DeviceError.
  MORTON_FOR_TOOLS LoadedPlan(Plan plan, OpenClDevices devices,
                              const std::function<void()>& built_one = {});
  LoadedPlan(Plan plan, std::shared_ptr<OpenClDevice> device)
      : LoadedPlan(std::move(plan), OpenClDevices{std::move(device)}) {}
  /// Takes what was compiled ahead: compiles nothing and packs nothing. Throws RefusedBinary,
  /// DeviceError.
  LoadedPlan(Plan plan, std::shared_ptr<OpenClDevice> device, const CompiledAhead& ahead);

  /// A plan of the same model at other extents, on one device: takes the programs of `family` and
  /// shares its constants where they lie alike; builds the programs that it lacks.
  LoadedPlan(Plan plan, std::shared_ptr<const LoadedPlan> family);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] OpenClDevice& device(DeviceIndex index = kFirstDevice) const {
    return *devices_[index];
  }
  [[nodiscard]] const OpenClDevices& devices() const { return devices_; }
  /// A step that computes (no transfer), with its arguments set. Throws cl::Error.
  [[nodiscard]] std::unique_ptr<LaunchedStep> launch(const Step& step,
                                                     const BufferOf& buffer_of) const;
  /// Memory of a constant or derived value that stays on the device.
  [[nodiscard]] const cl::Buffer& constant(ValueId value) const;
  /// The weights that runners bring to the device by turns.
  [[nodiscard]] const StreamedWeights& streamed() const { return *streamed_; }
  /// The binary of a program; call after every step has run. Throws DeviceError.
  [[nodiscard]] std::string program_binary(std::size_t program) const;
  /// What lies in a block of weights; zero between the values.
  [[nodiscard]] std::string weights_in(BlockId block) const;
  [[nodiscard]] const BuildReport& builds() const { return builds_; }
  [[nodiscard]] double upload_ms() const { return figures_.upload_ms; }
  /// Bytes of the constants that are the family's, and of those that are its own.
  [[nodiscard]] std::int64_t shared_bytes() const { return figures_.shared_bytes; }
  [[nodiscard]] std::int64_t own_bytes() const { return figures_.own_bytes; }

  /// True when some program came from source and is not on disk: it should be stored after a run.
  [[nodiscard]] bool wants_storing() const;
  /// True when some step runs kernels of a library, which builds them at its first use.
  [[nodiscard]] bool has_librarys_kernels() const;
  /// What became of programs that were to be written.
  struct Stored {
    int unkept = 0;                     ///< kernels that could not be
    std::vector<std::string> problems;  ///< why; one line where the folder cannot be written
  };
  /// Writes those programs; call after every step has run.
  [[nodiscard]] Stored store_programs();

 private:
  struct Program {
    std::shared_ptr<CachedProgram> cached;
    DeviceIndex device;
  };
  using ProgramId = Id<Program>;

  void load(const CompiledAhead& ahead, const std::function<void()>& built_one);
  void build_programs(const CompiledAhead& ahead, const std::function<void()>& built_one);
  /// Takes the family's program of every instance that it has.
  void take_programs();
  /// Likewise its constants.
  void take_constants();
  void upload_constants(const CompiledAhead& ahead);
  /// Memory for a block of weights: that of `packed`, where it may be used as it lies.
  [[nodiscard]] Block weights_block(BlockId block, const CompiledAhead& ahead);
  /// Asks for large pages under fresh blocks of weights, where the device is a CPU.
  void take_large_pages(DeviceIndex index, const cl::CommandQueue& queue);
  /// Whether only load steps read the constant.
  [[nodiscard]] bool is_for_loading(ValueId value) const;
  /// Whether a load step that is to run reads its memory.
  [[nodiscard]] bool is_to_read(ValueId value) const;
  /// Finds the load steps whose results are not the family's, and what they read.
  void find_load_steps();
  /// Uploads what only load steps read and `load_step` is the first to need.
  void upload_for_loading(std::size_t load_step, const Lifetimes& lives,
                          const cl::CommandQueue& queue);
  void run_load_steps();
  /// Gives back what only load steps read.
  void drop_what_was_for_loading();
  void upload(ValueId id, const cl::CommandQueue& queue);
  /// Gives what a load step writes memory, if it is streamed; and takes the bytes from there.
  void make_room_for_streamed(const Step& step);
  void take_streamed(const Step& step, const cl::CommandQueue& queue);
  void upload_packed(ValueId id, const CompiledAhead& ahead, const cl::CommandQueue& queue);

  /// What matters while the constants get to their places.
  struct Loading {
    std::vector<Block> blocks;             ///< as own_blocks_, of what only load steps read
    Indexed<BlockId, char> lies_as_it_is;  ///< whether the block is memory of CompiledAhead
    std::vector<char> is_to_run;           ///< by load step
    Indexed<ValueId, char> is_to_read;     ///< by those load steps; of roots of names
  };

  Plan plan_;
  OpenClDevices devices_;
  std::shared_ptr<const LoadedPlan> family_;  ///< whose constants it uses, or null
  BuildReport builds_;
  Indexed<ProgramId, Program> programs_;  ///< the family's first
  Indexed<InstanceId, ProgramId> program_of_instance_;
  Indexed<BlockId, Block> blocks_;          ///< of weights
  std::vector<Block> own_blocks_;           ///< of the constants that are not the family's
  Indexed<ValueId, cl::Buffer> constants_;  ///< empty handles for other values
  Indexed<ValueId, char> is_taken_;         ///< whether that is the family's
  std::shared_ptr<StreamedWeights> streamed_;
  Loading loading_;
  struct Figures {
    std::int64_t shared_bytes = 0, own_bytes = 0;
    double upload_ms = 0.0;
  } figures_;
};

}  // namespace morton::run
