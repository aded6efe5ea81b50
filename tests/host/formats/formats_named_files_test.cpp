// SPDX-License-Identifier: Apache-2.0
//
// Where files may lie that a model names: by openat2 and by the walk that stands in for it, beside
// the model and beneath a folder that somebody vouches for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "formats/arrays/r17_network.hpp"
#include "formats/named_files.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "host/formats_files.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr Confinement kConfinements[] = {Confinement::openat2_or_walk, Confinement::walk};

std::string text_of(InputFile file) {
  std::string text(static_cast<std::size_t>(file.bytes()), '\0');
  file.read(reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

/// A folder "in" with files and links of all kinds, and "out" beside it.
struct Places {
  TemporaryFolder folder;
  fs::path in = folder / "in";

  Places() {
    fs::create_directories(in / "sub/deep");
    fs::create_directory(folder / "out");
    write_bytes(folder / "out/w", "outside");
    write_bytes(in / "w", "inside");
    write_bytes(in / "sub/w", "below");
    fs::create_symlink("w", in / "link");
    fs::create_symlink("../../w", in / "sub/deep/up");
    fs::create_directory_symlink("sub", in / "folder_link");
    fs::create_symlink("../out/w", in / "link_out");
    fs::create_symlink(folder / "out/w", in / "absolute_link");
    fs::create_symlink("/proc/self/exe", in / "magic_link");
    fs::create_directory_symlink("../out", in / "out_folder");
    fs::create_symlink("loop", in / "loop");
    fs::create_symlink("nowhere", in / "dangling");
    fs::create_hard_link(folder / "out/w", in / "hard");
    ::mkfifo((in / "pipe").c_str(), 0600);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (in / "socket").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    (void)::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    ::close(listener);
  }
  [[nodiscard]] std::string open(const std::string& name, Links links, Confinement how) const {
    return text_of(InputFile::beneath(in, name, links, how));
  }
  [[nodiscard]] std::string refusal(const std::string& name, Links links, Confinement how) const {
    return message_of<ModelError>([&] { (void)open(name, links, how); });
  }
};

TEST(NamedFiles, WithoutLinksAreFilesOfOneNameBelow) {
  const Places places;
  for (const Confinement how : kConfinements) {
    SCOPED_TRACE(static_cast<int>(how));
    for (const char* name : {"w", "./w"}) {
      EXPECT_EQ(places.open(name, Links::refuse, how), "inside") << name;
    }
    EXPECT_THAT(places.refusal("sub/../w", Links::refuse, how), HasSubstr("leads out"));
    EXPECT_EQ(places.open("sub//w", Links::refuse, how), "below");
    for (const char* name : {"link", "sub/deep/up", "folder_link/w", "link_out", "absolute_link",
                             "magic_link", "out_folder/w", "loop", "dangling"}) {
      EXPECT_THAT(places.refusal(name, Links::refuse, how), HasSubstr("symbolic link")) << name;
    }
    EXPECT_THAT(places.refusal("hard", Links::refuse, how), HasSubstr("2 names"));
  }
}

TEST(NamedFiles, OfAFolderThatSomebodyNamesMayBeLinksThatStayInside) {
  const Places places;
  for (const Confinement how : kConfinements) {
    SCOPED_TRACE(static_cast<int>(how));
    for (const char* name : {"w", "link", "sub/deep/up", "sub/../w", "folder_link/../w"}) {
      EXPECT_EQ(places.open(name, Links::inside, how), "inside") << name;
    }
    EXPECT_EQ(places.open("folder_link/w", Links::inside, how), "below");
    EXPECT_EQ(places.open("hard", Links::inside, how), "outside");
    for (const char* name : {"link_out", "absolute_link", "magic_link", "out_folder/w", "loop",
                             "../in/w", "..", "sub/../../in/w"}) {
      EXPECT_THAT(places.refusal(name, Links::inside, how), HasSubstr("leads out")) << name;
    }
    EXPECT_THAT(places.refusal("dangling", Links::inside, how), HasSubstr("no such file"));
  }
}

TEST(NamedFiles, AreRegularFilesAndNeverWaitedFor) {
  const Places places;
  for (const Confinement how : kConfinements) {
    for (const Links links : {Links::refuse, Links::inside}) {
      for (const char* name : {"pipe", "sub", "."}) {
        EXPECT_THAT(places.refusal(name, links, how), HasSubstr("not a regular file")) << name;
      }
      EXPECT_THAT(places.refusal("socket", links, how), HasSubstr("cannot open"));
      EXPECT_THAT(places.refusal("w/", links, how), HasSubstr("cannot open"));
      EXPECT_THAT(places.refusal("none", links, how), HasSubstr("no such file"));
      EXPECT_THAT(places.refusal("", links, how), HasSubstr("no such file"));
      EXPECT_THAT(places.refusal("/etc/passwd", links, how), HasSubstr("leads out"));
      EXPECT_THAT(places.refusal(std::string("w\0x", 3), links, how),
                  HasSubstr("is not a file name"));
    }
  }
}

/// Somebody replaces a file by a link to another while it is opened: what is opened is the one
/// that was there, or nothing.
TEST(NamedFiles, CannotBeReplacedBetweenALookAndTheOpening) {
  const Places places;
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      fs::create_symlink(places.folder / "out/w", places.in / "new");
      fs::rename(places.in / "new", places.in / "w");
      write_bytes(places.in / "new", "inside");
      fs::rename(places.in / "new", places.in / "w");
    }
  });
  int opened = 0;
  for (int i = 0; i < 4000; ++i) {
    try {
      const Links links = i % 2 == 0 ? Links::refuse : Links::inside;
      EXPECT_EQ(places.open("w", links, kConfinements[i / 2 % 2]), "inside");
      ++opened;
    } catch (const ModelError&) {
      // The link was there.
    }
  }
  done = true;
  other.join();
  EXPECT_GT(opened, 0);
}

/// y = x + w, with w in the file `location`.
onnx::ModelProto model_with_weights_in(const std::string& location) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (onnx::ValueInfoProto* value : {graph.add_input(), graph.add_output()}) {
    value->set_name(value == &graph.input(0) ? "x" : "y");
    auto& type = *value->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(3);
  }
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Add");
  for (const char* input : {"x", "w"}) node.add_input(input);
  node.add_output("y");
  onnx::TensorProto& w = *graph.add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(3);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  return model;
}

const std::string kThree(12, '\0');

/// As Hugging Face's cache lies: a folder of links into another one.
TEST(NamedFiles, OfACacheOfLinksAreFoundFromTheFolderOfBoth) {
  const TemporaryFolder folder;
  const fs::path snapshot = folder / "snapshots/1";
  fs::create_directories(snapshot);
  fs::create_directory(folder / "blobs");
  write_bytes(folder / "blobs/aa", model_with_weights_in("model.onnx_data").SerializeAsString());
  write_bytes(folder / "blobs/bb", kThree);
  fs::create_symlink("../../blobs/aa", snapshot / "model.onnx");
  fs::create_symlink("../../blobs/bb", snapshot / "model.onnx_data");
  EXPECT_THAT(message_of<ModelError>([&] { (void)import_onnx(snapshot / "model.onnx"); }),
              HasSubstr("weights_folder"));
  LoadOptions options;
  options.weights_folder = folder.path().string();
  EXPECT_NO_THROW((void)import_onnx(snapshot / "model.onnx", options));
  options.weights_folder = snapshot.string();
  EXPECT_THAT(message_of<ModelError>([&] { (void)import_onnx(snapshot / "model.onnx", options); }),
              HasSubstr("leads out of the folder"));
  options.weights_folder = (folder / "none").string();
  EXPECT_THAT(message_of<ModelError>([&] { (void)import_onnx(snapshot / "model.onnx", options); }),
              HasSubstr("is no folder"));
}

TEST(NamedFiles, OfAModelElsewhereOrInMemoryBeginInTheNamedFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "weights");
  fs::create_directory(folder / "model");
  write_bytes(folder / "weights/w", kThree);
  const std::string model = model_with_weights_in("w").SerializeAsString();
  const fs::path file = write_bytes(folder / "model/m.onnx", model);
  LoadOptions options;
  options.weights_folder = (folder / "weights").string();
  EXPECT_NO_THROW((void)import_onnx(file, options));
  EXPECT_NO_THROW((void)import_onnx(model, "memory", {}, options));
  EXPECT_THAT(message_of<ModelError>([&] { (void)import_onnx(model, "memory"); }),
              HasSubstr("no folder"));
}

TEST(NamedFiles, OfConstantNodesBodiesAndAttributesObeyTheSameRule) {
  const TemporaryFolder folder;
  write_bytes(folder / "secret", kThree);
  fs::create_directory(folder / "model");
  onnx::ModelProto model = model_with_weights_in("../secret");
  const onnx::TensorProto w = model.graph().initializer(0);
  const auto refusal = [&](const onnx::ModelProto& changed) {
    const fs::path file = write_bytes(folder / "model/m.onnx", changed.SerializeAsString());
    return message_of<ModelError>([&] { (void)import_onnx(file); });
  };
  EXPECT_THAT(refusal(model), HasSubstr("leads out of the folder"));
  model.mutable_graph()->clear_initializer();
  onnx::ModelProto constant = model;
  onnx::NodeProto& node = *constant.mutable_graph()->add_node();
  node.set_op_type("Constant");
  node.add_output("w");
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  *value.mutable_t() = w;
  EXPECT_THAT(refusal(constant), HasSubstr("leads out of the folder"));
  onnx::ModelProto body = model;
  onnx::NodeProto& branch = *body.mutable_graph()->add_node();
  branch.set_op_type("If");
  branch.add_input("x");
  branch.add_output("w");
  onnx::AttributeProto& inside = *branch.add_attribute();
  inside.set_name("then_branch");
  inside.set_type(onnx::AttributeProto::GRAPH);
  *inside.mutable_g()->add_initializer() = w;
  EXPECT_THAT(refusal(body), HasSubstr("leads out of the folder"));
}

TEST(NamedFiles, OfNetworkDefinitionsObeyTheSameRule) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "net/parts");
  const std::string definition =
      R"({"rows": 1, "cols": 1, "data_type": "binary", "file": "w.bin"})";
  write_bytes(folder / "w.bin", "1234");
  write_bytes(folder / "net/parts/w.json", definition);
  fs::create_symlink("../../w.bin", folder / "net/parts/w.bin");
  const fs::path net = write_bytes(
      folder / "net/net.json",
      R"({"layers": [{"layer": "AffineLayer", "weights": "parts/w.json", "biases": "parts/w.json"}],
          "size": 1})");
  EXPECT_THAT(message_of<ModelError>([&] { (void)import_r17_network(net); }),
              HasSubstr("symbolic link"));
  LoadOptions options;
  options.weights_folder = folder.path().string();
  EXPECT_NO_THROW((void)import_r17_network(net, options));
  fs::remove(folder / "net/parts/w.bin");
  fs::create_hard_link(folder / "w.bin", folder / "net/parts/w.bin");
  EXPECT_THAT(message_of<ModelError>([&] { (void)import_r17_network(net); }),
              HasSubstr("hard links"));
}

}  // namespace
}  // namespace morton::test
