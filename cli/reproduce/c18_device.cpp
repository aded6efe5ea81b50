// SPDX-License-Identifier: Apache-2.0
#include "reproduce/answers.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {

std::vector<Experiment> c18_device(Scale) { return {}; }

}  // namespace morton::cli
