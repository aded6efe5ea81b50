// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/tensor.hpp"
#include "training/files/append_file.hpp"
#include "training/files/wire.hpp"

namespace morton::training {

/// CRC-32C (Castagnoli) of bytes.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// `record` as TFRecord frames it: its length, a masked checksum of that, the bytes, a masked
/// checksum of these. Source: TensorFlow's documentation, "TFRecords format details".
[[nodiscard]] std::string tf_record(std::string_view record);

/// A named number at one step.
struct Scalar {
  std::string tag;
  double value = 0.0;
};

/// The summary of a tensor's values in buckets of equal width between the least and the greatest.
/// Numbers that are not finite are left out.
[[nodiscard]] WireMessage histogram_of(std::span<const float> values);

/// A graph as TensorFlow's GraphDef, for TensorBoard to draw: inputs, constants and states are
/// nodes too. Names are changed where TensorFlow does not allow them.
[[nodiscard]] WireMessage graph_def(const Graph& graph);

/// A file of events that TensorBoard shows. Each event is written at once.
class EventFile {
 public:
  /// Creates a file of its own in `folder`, which TensorBoard joins with those of earlier runs from
  /// `first_step` on: what they tell of that step and later ones is withdrawn. Throws UsageError.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);

  void add_scalars(std::int64_t step, std::span<const Scalar> scalars);
  /// Throws UsageError for tensors that are not f32.
  void add_histogram(std::int64_t step, const std::string& tag, const Tensor& tensor);
  void add_graph(const Graph& graph);

 private:
  void add_event(const WireMessage& event);

  AppendFile file_;
};

}  // namespace morton::training
