// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files/archive.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

/// How a plan whose weights lie packed elsewhere becomes bytes (base/files/archive.hpp). What only
/// making a plan, packing or tuning needs is left out.
namespace morton::plan {

/// The plan as it is archived: constants are given by the memory of their blocks, so they have
/// neither data nor views, nothing is derived from them, and loading takes no steps.
[[nodiscard]] Plan with_packed_constants(Plan plan);

/// Of an archived plan: packed already (with_packed_constants), or as the plan was made.
enum class ArchivedConstants : std::uint8_t { packed, as_made };

/// Checks a plan that was read from a file before anything relies on it, then as `verify` does.
/// Throws ModelError that names `where`, and UnsupportedError for a plan that is right elsewhere
/// and shares memory as this device cannot.
void check_archived(const Plan& plan, const DeviceInfo& device, const std::string& where,
                    ArchivedConstants constants = ArchivedConstants::packed);

}  // namespace morton::plan

namespace morton {

template <>
struct LastOf<plan::Value::Kind> {
  static constexpr auto value = plan::Value::Kind::workspace;
};
template <>
struct LastOf<plan::PlannedImage::Source> {
  static constexpr auto value = plan::PlannedImage::Source::kept;
};
template <>
struct LastOf<plan::LibraryCall::Place> {
  static constexpr auto value = plan::LibraryCall::Place::host;
};
template <>
struct LastOf<plan::Step::Role> {
  static constexpr auto value = plan::Step::Role::repack;
};
template <>
struct LastOf<plan::PlannedBlock::Kind> {
  static constexpr auto value = plan::PlannedBlock::Kind::loading;
};
template <>
struct LastOf<source::InstanceArgument::Kind> {
  static constexpr auto value = source::InstanceArgument::Kind::integer;
};
template <>
struct LastOf<layout::PaddingContents> {
  static constexpr auto value = layout::PaddingContents::zero;
};
template <>
struct LastOf<layout::MemoryKind> {
  static constexpr auto value = layout::MemoryKind::image;
};

template <typename Archive, Archived<layout::Loop> T>
void visit(Archive& archive, T& loop) {
  auto& [dimension, extent] = loop;
  archive(dimension, extent);
}

/// Layouts are checked where they are made, so a reader makes them anew.
template <typename Archive, Archived<layout::Layout> T>
void visit(Archive& archive, T& layout) {
  int rank = layout.rank();
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): a reader writes to the copy
  std::vector<layout::Loop> loops = layout.loops();
  archive(rank, loops);
  if constexpr (!std::is_const_v<T>) {
    constexpr int kMostDimensions = 1024;
    if (rank < 0 || rank > kMostDimensions) archive.fail("a layout of too many dimensions");
    for (const layout::Loop& loop : loops) {
      if (loop.dimension < 0 || loop.dimension >= rank || loop.extent < 0) {
        archive.fail("a layout's loop is wrong");
      }
    }
    layout = layout::Layout(rank, std::move(loops));
  }
}

template <typename Archive, Archived<layout::Arrangement> T>
void visit(Archive& archive, T& arrangement) {
  auto& [dtype, tensor_shape, grouping, layout, padded, pitch, padding, memory, image_rows,
         image_texels] = arrangement;
  std::vector<std::vector<int>> groups;
  for (const JoinedDimensions& group : grouping) groups.emplace_back(group.begin(), group.end());
  archive(dtype, tensor_shape, groups, layout, padded, pitch, padding, memory, image_rows,
          image_texels);
  if constexpr (!std::is_const_v<T>) {
    grouping.assign(groups.size(), {});
    for (std::size_t d = 0; d < groups.size(); ++d) {
      if (groups[d].size() > kMaxRank) archive.fail("a group of too many dimensions");
      grouping[d].append(groups[d]);
    }
  }
}

/// `data` is there for states only. Plans with streamed weights are not kept.
template <typename Archive, Archived<plan::Value> T>
void visit(Archive& archive, T& value) {
  auto& [name, kind, arrangement, data, view, view_names, is_streamed, memory_of,
         offset_in_owner_bytes, device, block, offset_bytes, bytes] = value;
  archive(name, kind, arrangement, data, memory_of, offset_in_owner_bytes, device, block,
          offset_bytes, bytes);
}

template <typename Archive, Archived<plan::PlannedImage> T>
void visit(Archive& archive, T& image) {
  auto& [source, width, height, texel] = image;
  archive(source, width, height, texel);
}

template <typename Archive, Archived<plan::PassedValue> T>
void visit(Archive& archive, T& passed) {
  auto& [id, image] = passed;
  archive(id, image);
}

template <typename Archive, Archived<plan::StepArgument> T>
void visit(Archive& archive, T& argument) {
  auto& [name, passed] = argument;
  archive(name, passed);
}

template <typename Archive, Archived<plan::KernelLaunch> T>
void visit(Archive& archive, T& launch) {
  auto& [instance, global, local] = launch;
  archive(instance, global, local);
}

template <typename Archive, Archived<plan::LibraryCall> T>
void visit(Archive& archive, T& call) {
  auto& [place, library, routine] = call;
  archive(place, library, routine);
}

template <typename Archive, Archived<plan::Transfer> T>
void visit(Archive& archive, T& transfer) {
  auto& [from, to, from_offset_bytes, to_offset_bytes, bytes, stretches, from_pitch_bytes,
         to_pitch_bytes] = transfer;
  archive(from, to, from_offset_bytes, to_offset_bytes, bytes, stretches, from_pitch_bytes,
          to_pitch_bytes);
}

template <typename Archive, Archived<plan::StepCost> T>
void visit(Archive& archive, T& cost) {
  auto& [flop, work, bytes, logical_bytes, footprint_bytes, estimated_us] = cost;
  archive(flop, work, bytes, logical_bytes, footprint_bytes, estimated_us);
}

template <typename Archive, Archived<NamedSetting> T>
void visit(Archive& archive, T& setting) {
  auto& [name, value] = setting;
  archive(name, value);
}

template <typename Archive, Archived<MessagePiece> T>
void visit(Archive& archive, T& piece) {
  auto& [words, setting] = piece;
  archive(words, setting);
}

template <typename Archive, Archived<Message> T>
void visit(Archive& archive, T& message) {
  auto& [pieces] = message;
  archive(pieces);
}

/// Tuning knows its problem by `tuned_as`; nobody tunes what is compiled.
template <typename Archive, Archived<plan::Step> T>
void visit(Archive& archive, T& step) {
  auto& [name, kernel, role, device, action, arguments, reads, writes, in_place, cost, tunables,
         reason, problem, tuned_as] = step;
  archive(name, kernel, role, device, action, arguments, reads, writes, in_place, cost, tunables,
          reason, problem);
}

template <typename Archive, Archived<plan::PlannedBlock> T>
void visit(Archive& archive, T& block) {
  auto& [kind, bytes, device] = block;
  archive(kind, bytes, device);
}

template <typename Archive, Archived<plan::Port> T>
void visit(Archive& archive, T& port) {
  auto& [name, value] = port;
  archive(name, value);
}

template <typename Archive, Archived<plan::LiveBytes> T>
void visit(Archive& archive, T& live) {
  auto& [all, activations, workspace] = live;
  archive(all, activations, workspace);
}

template <typename Archive, Archived<source::InstanceArgument> T>
void visit(Archive& archive, T& argument) {
  auto& [kind, name, type, member] = argument;
  archive(kind, name);
}

template <typename Archive, Archived<source::InstanceSource> T>
void visit(Archive& archive, T& instance) {
  auto& [function, text, key, arguments] = instance;
  archive(function, text, key, arguments);
}

/// Of what was decided, plans for other extents are made: they begin with the model.
template <typename Archive, Archived<plan::PlannedDevice> T>
void visit(Archive& archive, T& device) {
  auto& [fingerprint, peaks] = device;
  archive(fingerprint, peaks);
}

template <typename Archive, Archived<plan::Plan> T>
void visit(Archive& archive, T& plan) {
  auto& [devices, values, load_steps, steps, instances, programs, blocks, inputs, outputs, states,
         considered, left_out, largest_live, decisions] = plan;
  archive(devices, values, load_steps, steps, instances, programs, blocks, inputs, outputs, states,
          considered, left_out, largest_live);
}

}  // namespace morton
