// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "morton/compiled_file.hpp"
#include "morton/model.hpp"
#include "words/cli11_names.hpp"

namespace morton::cli {

/// What MODEL names: a network, or the file that `morton compile` made of one.
class GivenModel {
 public:
  using Elsewhere = CompiledFileOptions::Elsewhere;

  /// Reads it. Throws UsageError for options that a compiled file leaves no choice for.
  explicit GivenModel(const ModelOptions& options, Elsewhere elsewhere);

  /// Gives it the parameters of a checkpoint (with_checkpoint of morton/training_run.hpp), and says
  /// which. Throws UsageError for a compiled file, whose parameters are packed.
  void take_checkpoint(const std::string& path);
  /// Gives it a new last layer (with_classes of morton/architectures.hpp). Throws UsageError
  /// likewise.
  void take_classes(std::int64_t classes);

  /// As the model states them; with the extents that all shapes of a compiled file agree on.
  [[nodiscard]] std::vector<PortInfo> inputs() const;
  /// As Model::inputs of these shapes has them.
  [[nodiscard]] std::vector<PortInfo> inputs(const std::map<std::string, Shape>& shapes) const;
  [[nodiscard]] std::vector<PortInfo> outputs() const;
  /// Inputs whose values must be known when it is compiled; none of a compiled file.
  [[nodiscard]] std::vector<std::string> planned_inputs() const;
  /// What parts the answers of a model with one output (answer_threshold of morton/evaluation.hpp).
  /// Throws UsageError for a compiled file, which does not say how it ends.
  [[nodiscard]] double answer_threshold() const;
  /// Compiles it or loads it, and passes the report's notes on as warnings. Throws UsageError for
  /// a compiled file and several devices.
  [[nodiscard]] CompiledModel compile(const std::vector<Device>& devices,
                                      const CompileOptions& options) const;

  /// What `compile` gave, at other extents: a new plan on its kernels, or the plan that the
  /// compiled file has. Throws as CompiledModel::with_shapes and CompiledFile::load.
  [[nodiscard]] CompiledModel with_shapes(const CompiledModel& compiled,
                                          const InputShapes& shapes) const;

  /// "kernels: 7 from cache, 0 built", or how many were compiled ahead.
  [[nodiscard]] std::string kernels_line(const CompileReport& report) const;
  /// The network. Throws InternalError for a compiled file.
  [[nodiscard]] const Model& network() const;
  [[nodiscard]] bool is_compiled() const { return file_.has_value(); }

 private:
  ModelOptions options_;
  Elsewhere elsewhere_;
  std::optional<Model> model_;
  std::optional<CompiledFile> file_;
};

/// MODEL, which may be a file of `morton compile` too; `need` says whether it must be there. And
/// --rebuild.
enum class Need : std::uint8_t { required, optional };
void add_given_model(CLI::App& command, ModelOptions& options, GivenModel::Elsewhere& elsewhere,
                     Need need);

}  // namespace morton::cli
