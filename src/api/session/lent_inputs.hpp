// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <morton/session.hpp>
#include <string>

#include "base/rooms.hpp"

namespace morton::api {

/// Inputs that a session's steps or its queue take from the caller's memory without a copy before:
/// for who waits for the run's outputs anyway. The tensors must neither change nor go while this
/// lives; afterwards the inputs are not set.
class LentInputs {
 public:
  explicit LentInputs(Session& session) : session_(session) {}
  LentInputs(const LentInputs&) = delete;
  LentInputs& operator=(const LentInputs&) = delete;
  /// Waits for the session, unless all are returned.
  ~LentInputs();

  /// Errors as Session::set_input.
  void set(const std::string& name, const Tensor& value);
  /// The caller has waited for outputs of a run behind all of them.
  void all_returned();

 private:
  Session& session_;
  bool is_reading_ = false;
};

}  // namespace morton::api
