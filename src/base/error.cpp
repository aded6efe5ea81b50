// SPDX-License-Identifier: Apache-2.0
#include "morton/error.hpp"

#include <utility>

namespace morton {

struct Error::Fields {
  Message message;
  std::string node;
  std::vector<RejectedKernel> rejected;
};

Error::Error(ErrorClass error_class, const Message& message)
    : std::runtime_error(message.print()),
      class_(error_class),
      fields_(std::make_shared<const Fields>(Fields{message, {}, {}})) {}

const Message& Error::message() const { return fields_->message; }

std::string Error::setting() const {
  const std::vector<NamedSetting> all = message().settings();
  return all.empty() ? "" : all.front().name;
}

const std::string& Error::node() const { return fields_->node; }

const std::vector<RejectedKernel>& Error::rejected() const { return fields_->rejected; }

void Error::put_down_to(const std::string& node) {
  if (!fields_->node.empty()) return;
  Fields fields = *fields_;
  fields.node = node;
  fields_ = std::make_shared<const Fields>(std::move(fields));
}

void Error::set_rejected(std::vector<RejectedKernel> kernels) {
  Fields fields = *fields_;
  fields.rejected = std::move(kernels);
  fields_ = std::make_shared<const Fields>(std::move(fields));
}

void NeedsSegments::set_waiting_node(const std::string& name) {
  waiting_node_ = std::make_shared<const std::string>(name);
}

// Out-of-line destructors anchor each class's type information in the library, so that an exception
// thrown here is caught by type in a program that links a shared build with hidden symbols.
Error::~Error() = default;
UsageError::~UsageError() = default;
ModelError::~ModelError() = default;
UnsupportedError::~UnsupportedError() = default;
NeedsSegments::~NeedsSegments() = default;
DeviceError::~DeviceError() = default;
InternalError::~InternalError() = default;

}  // namespace morton
