// SPDX-License-Identifier: Apache-2.0
#include "formats/image.hpp"
#include "fuzz/fuzz_target.hpp"

namespace morton::test {

void fuzz_pictures(std::string_view bytes) { (void)decode_image(bytes, "picture"); }

}  // namespace morton::test
