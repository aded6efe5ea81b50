// SPDX-License-Identifier: Apache-2.0
#include "reproduce/products.hpp"

#include <algorithm>

#include "reproduce/readers.hpp"

namespace morton::cli {

double flop_of(const ProductSize& size) {
  return 2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) *
         static_cast<double>(size.k);
}

std::vector<std::string> texts_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
  return texts;
}

std::string samples_text(Scale scale) { return scale == Scale::quick ? "3" : "5"; }

std::vector<std::string> product_command(const ProductSize& size, const std::string& kernel,
                                         Scale scale) {
  return {"bench",     "gemm",
          "--m",       std::to_string(size.m),
          "--n",       std::to_string(size.n),
          "--k",       std::to_string(size.k),
          "--use",     "gemm=gemm." + kernel,
          "--exclude", "gemm.swapped",
          "-n",        samples_text(scale),
          "--warmup",  "10ms"};
}

Reader rate_reader(const Rung& rung) {
  const std::string entry = "gemm." + rung.kernel;
  return rung.timed == Timed::call ? call_rate_of(entry) : rate_of(entry);
}

void add_ladder(const Ladder& ladder, Scale scale, Experiment& experiment) {
  experiment.row_heading = "size";
  experiment.rows = texts_of(ladder.sizes);
  for (const Rung& rung : ladder.rungs) experiment.columns.push_back({rung.name, "GFLOP/s"});
  for (const std::int64_t size : ladder.measured) {
    const auto row =
        static_cast<std::size_t>(std::ranges::find(ladder.sizes, size) - ladder.sizes.begin());
    for (std::size_t column = 0; column < ladder.rungs.size(); ++column) {
      const Rung& rung = ladder.rungs[column];
      const Place place{row, column, rate_reader(rung)};
      std::vector<std::string> command = product_command(square(size), rung.kernel, scale);
      // One run of a kernel gives both of its clocks.
      const auto same = std::ranges::find(experiment.cells, command, &Cell::arguments);
      if (same != experiment.cells.end()) {
        same->places.push_back(place);
      } else {
        experiment.cells.push_back({std::move(command), {place}, flop_of(square(size))});
      }
    }
  }
}

}  // namespace morton::cli
