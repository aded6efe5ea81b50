// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"

namespace morton::test {
using namespace api;
}  // namespace morton::test
