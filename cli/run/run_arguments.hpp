// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/segments.hpp"
#include "run/picture_output.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {

/// What `morton run` is asked for.
struct RunArguments {
  DeviceOptions device;
  ModelOptions model;
  std::vector<std::string> inputs;
  PictureOptions pictures;
  PictureWish picture;
  std::string output;
  struct Classes {
    std::int64_t top_k = 0;
    std::string labels;  ///< their file
  } classes;
  struct LaterStarts {
    bool prepares = false;      ///< builds for later starts and runs nothing
    std::string in_background;  ///< likewise, behind a run: its place (BackgroundTurn)
  } later;
  bool resumes = false;      ///< goes on over many files
  bool names_start = false;  ///< --start is given
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
  std::int64_t most_turns = SegmentOptions().most_turns;
  StepOptions steps;
  Format format = Format::table;
};

/// Sets what the files of the inputs settle.
std::vector<PortInfo> settle(const Sources& sources, const GivenModel& model,
                             CompileOptions& compile);

[[nodiscard]] Json kernels_json(const CompileReport& report);

/// --prepare: builds for later starts. Returns the exit status.
int prepare(const RunArguments& options);

}  // namespace morton::cli
