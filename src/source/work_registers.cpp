// SPDX-License-Identifier: Apache-2.0
#include "source/work_registers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"

namespace morton::source {
namespace {

/// Of the values that are the same for all elements, so many keep registers.
constexpr std::size_t kFixedRegisters = 8;
/// Registers that the places of operands take beside a chain's values: coordinates and an index.
constexpr int kPlaceRegisters = 6;
constexpr std::size_t kWordsOfInstruction = 5;
constexpr std::size_t kResultWord = 3, kPlaceWord = 4;  ///< of the head

/// Puts values in order and gives them registers.
class RegisterWriter {
 public:
  RegisterWriter(const WorkNodes& nodes, const WorkResult& result)
      : nodes_(nodes), result_(result) {}

  std::vector<std::int32_t> write() {
    list(result_.value);
    if (result_.place) list(result_.place);
    split_fixed();
    find_last_uses();
    std::vector<std::int32_t> words{static_cast<std::int32_t>(result_.elements),
                                    static_cast<std::int32_t>(once_.size()),
                                    static_cast<std::int32_t>(order_.size()), 0, -1};
    for (const WorkNodeId id : once_) append(id, take(), words);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const WorkNodeId id = order_[i];
      // Instructions go from place to place, so a result may take the register of an operand.
      const std::vector<std::int32_t> operands = registers_of_values(id);
      for (const WorkNodeId value : nodes_.at(id).values) {
        if (last_use_.at(value) == i) give_back(value);
      }
      append(id, take(), words, operands);
    }
    words[kResultWord] = registers_.at(result_.value);
    if (result_.place) words[kPlaceWord] = registers_.at(result_.place);
    return words;
  }

 private:
  /// Operands first, each once.
  void list(WorkNodeId id) {
    if (!listed_.insert(id).second) return;
    for (const WorkNodeId value : nodes_.at(id).values) list(value);
    order_.push_back(id);
  }

  void split_fixed() {
    const auto is_fixed = [&](WorkNodeId id) { return nodes_.at(id).is_fixed(); };
    std::ranges::copy_if(order_, std::back_inserter(once_), is_fixed);
    if (once_.size() > kFixedRegisters) once_.resize(kFixedRegisters);
    std::erase_if(order_, [&](WorkNodeId id) { return std::ranges::count(once_, id) > 0; });
  }

  void find_last_uses() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (const WorkNodeId value : nodes_.at(order_[i]).values) last_use_[value] = i;
    }
    // These are read again for the next chunk, and behind the last instruction.
    for (const WorkNodeId id : once_) last_use_[id] = order_.size();
    last_use_[result_.value] = order_.size();
    if (result_.place) last_use_[result_.place] = order_.size();
  }

  std::int32_t take() {
    if (!free_.empty()) {
      const std::int32_t lowest = *free_.begin();
      free_.erase(free_.begin());
      return lowest;
    }
    if (used_ == kWorkRegisters) {
      throw UnsupportedError("plan: an elementwise step takes more than " +
                             std::to_string(kWorkRegisters) + " registers of a work program");
    }
    return used_++;
  }

  void give_back(WorkNodeId id) {
    const auto held = registers_.find(id);
    if (held != registers_.end()) free_.insert(held->second);
    // A value that stands twice among an instruction's operands goes back once.
  }

  [[nodiscard]] std::vector<std::int32_t> registers_of_values(WorkNodeId id) const {
    std::vector<std::int32_t> registers;
    for (const WorkNodeId value : nodes_.at(id).values) registers.push_back(registers_.at(value));
    return registers;
  }

  void append(WorkNodeId id, std::int32_t place, std::vector<std::int32_t>& words,
              std::vector<std::int32_t> operands = {}) {
    const WorkNode& node = nodes_.at(id);
    registers_[id] = place;
    operands.insert(operands.end(), node.numbers.begin(), node.numbers.end());
    words.push_back(static_cast<std::int32_t>(node.code));
    words.push_back(place);
    operands.resize(kWordsOfInstruction - 2);
    words.insert(words.end(), operands.begin(), operands.end());
  }

  const WorkNodes& nodes_;
  WorkResult result_;
  std::set<WorkNodeId> listed_;
  std::vector<WorkNodeId> order_;  ///< of each chunk
  std::vector<WorkNodeId> once_;   ///< before the first
  std::map<WorkNodeId, std::size_t> last_use_;
  std::map<WorkNodeId, std::int32_t> registers_;
  std::set<std::int32_t> free_;
  std::int32_t used_ = 0;
};

}  // namespace

std::vector<std::int32_t> with_registers(const WorkNodes& nodes, const WorkResult& result) {
  return RegisterWriter(nodes, result).write();
}

int registers_of(const Chain& chain) {
  // A value lives from its step to the last that reads it; operands are read where they are used.
  std::vector<std::size_t> last(chain.steps.size());
  std::vector<std::size_t> last_input(static_cast<std::size_t>(chain.input_count));
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    last[i] = i;
    for (const ScalarRef& ref : chain.steps[i].arguments) {
      if (ref.kind == ScalarRef::Kind::step) last[ref.place()] = i;
      if (ref.kind == ScalarRef::Kind::input) last_input[ref.place()] = i;
    }
  }
  std::size_t most = 1;
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    std::size_t live = chain.steps[i].arguments.size() + 1;
    for (std::size_t j = 0; j < i; ++j) live += last[j] > i ? 1 : 0;
    for (const std::size_t end : last_input) live += end > i ? 1 : 0;
    most = std::max(most, live);
  }
  return static_cast<int>(most + kFixedRegisters) + kPlaceRegisters;
}

}  // namespace morton::source
