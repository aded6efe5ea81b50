// SPDX-License-Identifier: Apache-2.0
#include "bench/published.hpp"

namespace morton::cli {
namespace {

constexpr double kNone = kNotPublished;

PublishedNetwork lenet5() {
  return {"lenet5",
          "LeNet",
          {100, 1, 32, 32},
          {"CLBlast", "baseline", "baseline, kernels"},
          {
              {"C1", "C1", {721.14, 34.81, 14.49}},
              {"S2", "S2", {579.78, 17.3, 1.02}},
              {"C3", "C3", {681.3, 60.04, 40.27}},
              {"S4", "S4", {550.48, 17.35, 0.63}},
              {"F5", "F5", {416.53, 33.9, 4.2}},
              {"F6", "F6", {405.32, 30.92, 0.77}},
          },
          {3354.55, 194.31, 61.37},
          "R18, table 6.2 (Mali T-628, wall time): its 17x over CLBlast is mostly what CLBlast "
          "took for "
          "each call there, about 76 ms"};
}

PublishedNetwork vgg16() {
  return {
      "vgg16",
      "VGG-16",
      {1, 3, 224, 224},
      {"CLBlast", "baseline", "NHWC", "vectorised", "Morton", "its products", "Loukadakis et al."},
      {
          {"conv1-1", "features.0", {874.732, 150, 170, 71.756, 314.39, 66.71, kNone}},
          {"conv1-2", "features.2", {1362.894, 6670, 1730, 513.39, 556.019, 295.42, 830}},
          {"mp1", "features.4", {kNone, kNone, kNone, 94.202, 49.427, kNone, kNone}},
          {"conv2-1", "features.5", {894.872, 1710, 870, 281.243, 281.358, 150.13, 400}},
          {"conv2-2", "features.7", {1257.292, 5990, 1790, 547.064, 525.032, 307.1, 680}},
          {"mp2", "features.9", {kNone, kNone, kNone, 59.221, 37.116, kNone, kNone}},
          {"conv3-1", "features.10", {796.761, 1850, 900, 284.008, 273.863, 152.97, 340}},
          {"conv3-2", "features.12", {1117.005, 4790, 2420, 568.757, 447.739, 289.01, 760}},
          {"conv3-3", "features.14", {1117.776, 4730, 2420, 566.79, 449.776, 289.87, 750}},
          {"mp3", "features.16", {kNone, kNone, kNone, 40.145, 34.634, kNone, kNone}},
          {"conv4-1", "features.17", {772.71, 1160, 1200, 315.924, 275.046, 157.79, 330}},
          {"conv4-2", "features.19", {1052.089, 6640, 3290, 1012.383, 449.034, 297.04, 1460}},
          {"conv4-3", "features.21", {1050.759, 6270, 3290, 1011.882, 449.453, 297.13, 1460}},
          {"mp4", "features.23", {kNone, kNone, kNone, 31.477, 33.719, kNone, kNone}},
          {"conv5-1", "features.24", {1946.488, 610, 910, 327.361, 234.432, 99.09, 340}},
          {"conv5-2", "features.26", {1947.286, 620, 910, 336.554, 233.532, 98.07, 340}},
          {"conv5-3", "features.28", {1946.385, 620, 930, 327.602, 236.013, 99.61, 340}},
          {"mp5", "features.30", {kNone, kNone, kNone, 28.797, 33.744, kNone, kNone}},
          {"fc1", "classifier.0", {677.196, kNone, kNone, 608.65, 608.65, kNone, kNone}},
          {"fc2", "classifier.3", {315.579, kNone, kNone, 92.939, 92.939, kNone, kNone}},
          {"fc3", "classifier.6", {272.65, kNone, kNone, 46.313, 46.313, kNone, kNone}},
      },
      {17402.473, 41810, 20830, 7166.458, 5662.229, 2599.93, 8030},
      "R18 (Mali T-628, wall time): CLBlast, vectorised, Morton and Loukadakis et al. of table "
      "7.4, "
      "baseline and NHWC of table 7.2, the products of Morton of table 7.3 (convolutions only, as "
      "are the totals of 7.2 and 7.3)"};
}

}  // namespace

std::span<const PublishedNetwork> published_networks() {
  static const std::vector<PublishedNetwork> kNetworks{lenet5(), vgg16()};
  return kNetworks;
}

}  // namespace morton::cli
