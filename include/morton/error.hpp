// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "morton/export.hpp"
#include "morton/message.hpp"

namespace morton {

/// Who must act on an error; also the exit status of the command line (docs/command_line.md).
enum class ErrorClass {
  usage,        ///< the caller asked for something impossible: exit status 2
  model,        ///< a model, data, catalogue or cache file is wrong: exit status 3
  unsupported,  ///< the file is right, the engine cannot do it: exit status 3
  device,       ///< no device, a driver's refusal, a lost context: exit status 4
  internal,     ///< a defect of Morton: exit status 70
};

/// A kernel that cannot compute what it was considered for, and why.
struct RejectedKernel {
  std::string kernel;  ///< entry or recipe
  Message why;
};

/// Base of every exception that Morton throws. `what()` says where, what was expected, what was
/// got, and what to do. Code asks for the fields and searches no text.
class MORTON_API Error : public std::runtime_error {
 public:
  Error(ErrorClass error_class, const Message& message);
  Error(const Error& other) noexcept = default;
  Error& operator=(const Error& other) noexcept = default;
  ~Error() override;
  [[nodiscard]] ErrorClass error_class() const { return class_; }
  /// `what()` with its settings apart.
  [[nodiscard]] const Message& message() const;
  /// The setting that the message names first, which is the one at fault in a UsageError; "" where
  /// it names none.
  [[nodiscard]] std::string setting() const;
  /// The node of the graph that is at fault, by name; "" where none is.
  [[nodiscard]] const std::string& node() const;
  /// Where no kernel computes a step: those that were considered, and why not.
  [[nodiscard]] const std::vector<RejectedKernel>& rejected() const;
  /// Puts the error down to the node, unless it is put down to one already. The message stays.
  void put_down_to(const std::string& node);
  /// Sets `rejected`. The message stays.
  void set_rejected(std::vector<RejectedKernel> kernels);

 private:
  struct Fields;

  ErrorClass class_;
  std::shared_ptr<const Fields> fields_;  // shared, so that copies do not throw
};

/// The caller's request cannot be met as stated (a wrong option, a wrong shape, a missing input).
class MORTON_API UsageError : public Error {
 public:
  explicit UsageError(const Message& message) : Error(ErrorClass::usage, message) {}
  ~UsageError() override;
};

/// A model or data file is damaged or contradicts itself.
class MORTON_API ModelError : public Error {
 public:
  explicit ModelError(const Message& message) : Error(ErrorClass::model, message) {}
  ~ModelError() override;
};

/// A valid request that this engine, or this device, has no means for.
class MORTON_API UnsupportedError : public Error {
 public:
  explicit UnsupportedError(const Message& message) : Error(ErrorClass::unsupported, message) {}
  ~UnsupportedError() override;
};

/// The model has no plan before a run has found something out: an extent, a condition, a number of
/// turns. SegmentedSession (segments.hpp) runs it.
class MORTON_API NeedsSegments : public UnsupportedError {
 public:
  using UnsupportedError::UnsupportedError;
  ~NeedsSegments() override;
  /// The node of the model behind whose inputs the run must wait. `node()` may lie in its bodies.
  [[nodiscard]] const std::string& waiting_node() const { return *waiting_node_; }
  void set_waiting_node(const std::string& name);

 private:
  std::shared_ptr<const std::string> waiting_node_ = std::make_shared<const std::string>();
};

/// The device or its driver failed, or there is none.
class MORTON_API DeviceError : public Error {
 public:
  explicit DeviceError(const Message& message) : Error(ErrorClass::device, message) {}
  ~DeviceError() override;
};

/// Morton contradicts itself; please report it.
class MORTON_API InternalError : public Error {
 public:
  explicit InternalError(const Message& message) : Error(ErrorClass::internal, message) {}
  ~InternalError() override;
};

}  // namespace morton
