// SPDX-License-Identifier: Apache-2.0
#include "plan/measured/static_costs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "base/environment_variables.hpp"
#include "plan/measured/tuned_file.hpp"

namespace morton::plan {
namespace {

/// A GPU whose compiler Morton's costs come from.
struct KnownBoard {
  std::string_view board;
  enum class Set : std::uint8_t { midgard, bifrost, valhall, adreno } set = Set::midgard;
  int number = 0;
};
using Set = KnownBoard::Set;

constexpr std::array<KnownBoard, 12> kBoards{{{"t860", Set::midgard, 860},
                                              {"g31", Set::bifrost, 31},
                                              {"g52", Set::bifrost, 52},
                                              {"g57", Set::valhall, 57},
                                              {"g310", Set::valhall, 310},
                                              {"g610", Set::valhall, 610},
                                              {"a618", Set::adreno, 618},
                                              {"a630", Set::adreno, 630},
                                              {"a660", Set::adreno, 660},
                                              {"a730", Set::adreno, 730},
                                              {"a740", Set::adreno, 740},
                                              {"a750", Set::adreno, 750}}};

/// The first digits at or behind `text`'s begin; 0 where there are none.
int first_number(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  int number = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at, text.data() + text.size(), number);
  }
  return number;
}

Set mali_set(char letter, int number) {
  if (letter == 'T') return Set::midgard;
  constexpr std::array<int, 6> kBifrost{31, 51, 52, 71, 72, 76};
  return std::ranges::find(kBifrost, number) != kBifrost.end() ? Set::bifrost : Set::valhall;
}

/// What the library has for the board, read once.
std::shared_ptr<const std::vector<StaticCost>> shipped_costs(const std::string& board) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::vector<StaticCost>>> known;
  const std::string name = "boards/" + board + ".json";
  const std::string key = environment_variable("MORTON_KERNEL_DIR").value_or("") + "\n" + name;
  const std::lock_guard lock(mutex);
  auto& costs = known[key];
  if (costs) return costs;
  TunedData data;
  read_shipped_file(name, data);
  costs = std::make_shared<const std::vector<StaticCost>>(data.static_costs());
  return costs;
}

}  // namespace

std::string gpu_model(std::string_view text) {
  constexpr std::string_view kMali = "Mali-", kAdreno = "Adreno";
  if (const std::size_t at = text.find(kMali); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + kMali.size());
    const int number = rest.size() > 1 ? first_number(rest.substr(1)) : 0;
    const bool is_known = number > 0 && (rest[0] == 'T' || rest[0] == 'G');
    return is_known ? "Mali-" + std::string(1, rest[0]) + std::to_string(number) : "";
  }
  // Qualcomm's driver has the number only in its versions, Mesa's calls the GPU FD740.
  for (std::size_t at = text.find(kAdreno); at != std::string_view::npos;
       at = text.find(kAdreno, at + 1)) {
    const int number = first_number(text.substr(at));
    // An Adreno 2xx to 4xx has another instruction set.
    if (number >= 500 && number < 1000) return "Adreno " + std::to_string(number);
  }
  const int number = text.starts_with("FD") ? first_number(text) : 0;
  return number >= 500 && number < 1000 ? "Adreno " + std::to_string(number) : "";
}

std::string gpu_model(const DeviceInfo& device) {
  return gpu_model(device.name + " " + device.driver.device_version + " " +
                   device.driver.opencl_c_version);
}

std::string board_like(std::string_view gpu) {
  if (gpu.empty()) return "";
  const int number = first_number(gpu);
  constexpr std::string_view kMali = "Mali-";
  const Set set = gpu.starts_with(kMali) ? mali_set(gpu[kMali.size()], number) : Set::adreno;
  const KnownBoard* nearest = nullptr;
  for (const KnownBoard& board : kBoards) {
    if (board.set != set) continue;
    const auto apart = [&](const KnownBoard& one) { return std::abs(one.number - number); };
    if (nearest == nullptr || apart(board) < apart(*nearest)) nearest = &board;
  }
  return std::string(nearest->board);
}

std::vector<StaticCost> static_costs_for(const DeviceInfo& device, const TunedData* tuned) {
  const std::string board = board_like(gpu_model(device));
  if (board.empty()) return {};
  std::vector<StaticCost> costs = *shipped_costs(board);
  if (tuned == nullptr) return costs;
  for (const StaticCost& cost : tuned->static_costs()) {
    const std::string gpu = gpu_model(cost.device.name + " " + cost.device.fingerprint);
    if (board_like(gpu) == board) costs.push_back(cost);
  }
  return costs;
}

}  // namespace morton::plan
