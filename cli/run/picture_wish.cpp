// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "common/options.hpp"
#include "run/picture_output.hpp"

namespace morton::cli {

void add_options(CLI::App& command, PictureWish& wish) {
  using Kind = PictureWish::Kind;
  using Order = PictureWish::Order;
  const std::vector<std::pair<std::string, Kind>> kinds{{"auto", Kind::by_shape},
                                                        {"image", Kind::image},
                                                        {"segmentation", Kind::segmentation},
                                                        {"boxes", Kind::boxes}};
  const std::vector<std::pair<std::string, Order>> orders{
      {"auto", Order::by_name}, {"xyxy", Order::xyxy}, {"yxyx", Order::yxyx}};
  command
      .add_option("--picture", wish.kind,
                  "How -o FILE.png reads the outputs: image, segmentation (a class a pixel) or "
                  "boxes; auto: by shapes and names (auto)")
      ->option_text("KIND")
      ->transform(one_of(numbered(kinds)));
  command.add_option("--picture-of", wish.output, "The output that -o FILE.png draws")
      ->option_text("NAME");
  command
      .add_option("--picture-range", wish.range,
                  "For --picture image: the values that are black and white (0,1; -1,1 or 0,255, "
                  "by the values)")
      ->option_text("BLACK,WHITE")
      ->delimiter(',')
      ->expected(2);
  command
      .add_option("--box-order", wish.order,
                  "For --picture boxes: xyxy or yxyx; auto: yxyx for TensorFlow's detection_boxes")
      ->option_text("ORDER")
      ->transform(one_of(numbered(orders)));
  command.add_option("--min-score", wish.least_score, "For --picture boxes: the least score (0.5)")
      ->option_text("X");
  command.add_flag("--overlay", wish.overlay,
                   "For --picture segmentation: lay the classes over the photograph");
}

}  // namespace morton::cli
