// SPDX-License-Identifier: Apache-2.0
#include "plan/search/kernel_choices.hpp"

#include <map>

#include "plan/search/candidates.hpp"

namespace morton::plan {

void KernelChoices::push_back(KernelChoice choice) {
  choices_.push_back(std::make_shared<const KernelChoice>(std::move(choice)));
}

void KernelChoices::change_each(const std::function<void(KernelChoice&)>& change) {
  std::map<const KernelChoice*, Shared> changed;
  for (Shared& choice : choices_) {
    Shared& copy = changed[choice.get()];
    if (copy == nullptr) {
      auto made = std::make_shared<KernelChoice>(*choice);
      change(*made);
      copy = std::move(made);
    }
    choice = copy;
  }
}

}  // namespace morton::plan
