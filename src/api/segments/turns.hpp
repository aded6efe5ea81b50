// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "api/segments/control.hpp"
#include "api/segments/loop_parts.hpp"

namespace morton::api {

/// A loop whose turns the host counts: it calls the body until the condition ends it. Where states
/// keep their shapes they stay on the device, and the host reads the condition alone.
class Turns : public Control {
 public:
  Turns(LoopParts parts, Message why, SegmentContext& context, int depth);
  ~Turns() override;
  std::vector<Tensor> run(const std::vector<const Tensor*>& inputs) override;

 private:
  struct Fed;
  struct Going;

  [[nodiscard]] Going begin(const std::vector<const Tensor*>& inputs) const;
  /// Whether there is another turn. Throws UnsupportedError where there are too many.
  [[nodiscard]] bool goes_on(const Going& going) const;
  /// The body that feeds itself for inputs like these, or nullptr.
  Fed* fed_for(const Values& given);
  std::unique_ptr<Fed> made_fed(const Values& given);
  void run_fed(Fed& fed, Going& going);
  void run_turn(Going& going);
  [[nodiscard]] std::vector<Tensor> results(Going& going) const;

  SegmentContext& context_;
  LoopParts parts_;
  Message why_;
  Segment body_;
  /// Inputs that were met, and nullptr where no body can feed itself.
  struct Tried {
    std::string key;
    std::unique_ptr<Fed> fed;
  };
  std::list<Tried> fed_;  ///< the newest first
};

}  // namespace morton::api
