// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Each folder of src/ is a namespace, and a folder sees the names of those before it in the order
/// that data flows (ARCHITECTURE.md, "Folders"). `base` and the public headers are `morton` itself.
/// A name that two folders give to different things is written with its folder: plan::Schedule.
namespace morton {

namespace problems {}
namespace graph {
using namespace problems;
}
namespace ops {
using namespace graph;
}
namespace formats {
using namespace ops;
}
namespace passes {
using namespace formats;
}
namespace autodiff {
using namespace passes;
}
namespace training {
using namespace autodiff;
}
namespace layout {
using namespace autodiff;
}
namespace catalogue {
using namespace layout;
}
namespace source {
using namespace catalogue;
}
namespace plan {
using namespace source;
}
namespace device {
using namespace plan;
}
namespace launch {
using namespace device;
}
namespace run {
using namespace launch;
}
namespace api {
using namespace run;
using namespace training;
}  // namespace api
namespace tools {
using namespace api;
}

}  // namespace morton
