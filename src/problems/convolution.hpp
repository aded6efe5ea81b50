// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "problems/family.hpp"
#include "problems/window.hpp"

namespace morton::problems {

/// Convolutions of images, and what their columns are made by.
///
/// conv2d: dst[N,O,OH,OW] = sum over i, kh, kw of src[N,C,H,W] * weights[O,I,KH,KW], where window
/// (oh, ow) reads src at (h, w) (SlidingWindow) and output channel o reads the channels
/// (o / (O / G)) * I + i, I = C / G.
///
/// integer_conv2d: conv2d of whole numbers of 8 bits, with sums of 32 bits. What lies outside of
/// the image is border[C], a number for each channel: the code of zero.
///
/// conv_transpose2d: conv2d backwards. dst[N,O,OH,OW] = sum over c, kh, kw of src[N,C,H,W] *
/// weights[C,J,KH,KW]: src[.., h, w] adds to dst at row h * SH + kh * DH - PT and column
/// w * SW + kw * DW - PL, for each kh and kw; what falls outside of dst is dropped. Output channel
/// o is channel o % J of group o / J, J = O / G, and reads the C / G channels of its group.
///
/// unfold2d: dst[N,K,P] = src[N,C,H,W] where a window of conv2d reads it: k = (c*KH + kh)*KW + kw
/// and p = oh*OW + ow. Parameters OH OW.
///
/// fold2d: dst[N,O,OH,OW] = sum of the src[N,K,P] that a window of conv_transpose2d puts there:
/// k = (o*KH + kh)*KW + kw and p = h*W + w. Parameters H W.

/// Of conv2d and integer_conv2d.
struct Conv2dStructure {
  SlidingWindow window;
  std::int64_t groups = 1;    ///< G
  std::int64_t channels = 1;  ///< I, input channels of a group

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    SlidingWindow::fields(self.window, field);
    field("G", self.groups);
    field("I", self.channels);
  }
};

/// The sum of conv2d at n, o, oh, ow, of the problem's operands src and weights.
[[nodiscard]] double convolution_at(ProblemReader& problem, const Conv2dStructure& conv,
                                    const Coordinates& at);

/// Of conv_transpose2d.
struct ConvTranspose2dStructure {
  SlidingWindow window;
  std::int64_t groups = 1;   ///< G
  std::int64_t outputs = 1;  ///< J, output channels of a group

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    SlidingWindow::fields(self.window, field);
    field("G", self.groups);
    field("J", self.outputs);
  }
};

}  // namespace morton::problems
