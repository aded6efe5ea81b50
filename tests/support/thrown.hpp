// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "morton/error.hpp"

namespace morton::test {

/// The error of class Expected that the call throws. Without one the test fails, and the result is
/// an error without words.
template <typename Expected, typename Call>
Expected thrown(const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing is thrown";
  } catch (const Expected& error) {
    return error;
  } catch (const Error& error) {
    ADD_FAILURE() << "an error of another class: " << error.what();
  }
  return Expected("");
}

}  // namespace morton::test
