// SPDX-License-Identifier: Apache-2.0
//
// External data, bytes that are no model, and places that are no files.
#include <sys/stat.h>

#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

/// Attributes that hold graphs that hold nodes that hold attributes.
void nest(onnx::NodeProto& node, int depth) {
  onnx::AttributeProto& proto = attribute(node, "body");
  proto.set_type(onnx::AttributeProto::GRAPH);
  if (depth > 0) nest(*proto.mutable_g()->add_node(), depth - 1);
}

/// A field of protobuf's wire format: its tag, the length, the content.
std::string field(char tag, const std::string& content) {
  std::string text(1, tag);
  std::size_t left = content.size();
  for (; left > 0x7f; left >>= 7) text += static_cast<char>((left & 0x7f) | 0x80);
  return text + static_cast<char>(left) + content;
}

}  // namespace

void add_external_data(Collection& all) {
  const auto nothing = [](const fs::path&) {};
  const auto data = [](const fs::path& folder) {
    write_bytes(folder / "w.bin", std::string(12, 'a'));
  };
  all.external("external data without a place", "'w'", {}, nothing);
  all.external("external data that are not there", "w.bin", {{"location", "w.bin"}}, nothing);
  all.external("external data above the folder", "out of the folder", {{"location", "../w.bin"}},
               [](const fs::path& folder) {
                 write_bytes(folder.parent_path() / "w.bin", std::string(12, 'a'));
               });
  all.external("external data above the folder, hidden", "out of the folder",
               {{"location", "a/../../w.bin"}},
               [](const fs::path& folder) { fs::create_directory(folder / "a"); });
  all.external("external data by absolute path", "out of the folder",
               {{"location", "/etc/hostname"}}, nothing);
  all.external("external data in /dev/zero", "out of the folder", {{"location", "/dev/zero"}},
               nothing);
  all.external(
      "external data behind a symbolic link", "symbolic link", {{"location", "w.bin"}},
      [](const fs::path& folder) { fs::create_symlink("/etc/hostname", folder / "w.bin"); });
  all.external("external data behind a linked folder", "symbolic link",
               {{"location", "etc/hostname"}},
               [](const fs::path& folder) { fs::create_symlink("/etc", folder / "etc"); });
  all.external("external data behind a link to /dev/zero", "symbolic link", {{"location", "w.bin"}},
               [](const fs::path& folder) { fs::create_symlink("/dev/zero", folder / "w.bin"); });
  all.external("external data in a pipe", "not a regular file", {{"location", "w.bin"}},
               [](const fs::path& folder) { ::mkfifo((folder / "w.bin").c_str(), 0600); });
  all.external("external data in a folder", "not a regular file", {{"location", "w.bin"}},
               [](const fs::path& folder) { fs::create_directory(folder / "w.bin"); });
  all.external("external data with a second name", "hard links", {{"location", "w.bin"}},
               [](const fs::path& folder) {
                 write_bytes(folder.parent_path() / "elsewhere.bin", std::string(12, 'a'));
                 fs::create_hard_link(folder.parent_path() / "elsewhere.bin", folder / "w.bin");
               });
  all.external("external data of two places", "given twice",
               {{"location", "w.bin"}, {"location", "../w.bin"}}, data);
  all.external("external data of another system's path", "no such file",
               {{"location", "C:\\w.bin"}}, nothing);
  all.external("external data of a server", "no such file",
               {{"location", "https://example.org/w.bin"}}, nothing);
  all.external("external data in the folder itself", "not a regular file", {{"location", "."}},
               nothing);
  all.external("external data beyond the file's end", "'w'",
               {{"location", "w.bin"}, {"offset", "1000"}}, data);
  all.external("external data that are cut short", "'w'", {{"location", "w.bin"}, {"offset", "1"}},
               data);
  all.external("external data of another length", "'w'", {{"location", "w.bin"}, {"length", "8"}},
               data);
  all.external("an offset below zero", "'w'", {{"location", "w.bin"}, {"offset", "-4"}}, data);
  all.external("an offset that overflows", "'w'",
               {{"location", "w.bin"}, {"offset", "9223372036854775800"}}, data);
  all.external("an offset of too many digits", "'w'",
               {{"location", "w.bin"}, {"offset", std::string(40, '9')}}, data);
  all.external("an offset that is no number", "'w'", {{"location", "w.bin"}, {"offset", "four"}},
               data);
  all.external("a name with a zero byte", "not a file name",
               {{"location", std::string("w\0.bin", 6)}}, nothing);
}

void add_bytes(Collection& all) {
  onnx::ModelProto model = model_with_input({2, 3});
  add_weights(model, "w", {3});
  add_node(model, "Add", {"x", "w"}, "y");
  const std::string whole = model.SerializeAsString();
  all.bytes("an empty file", "");
  all.bytes("text", "This is no model.\n");
  all.bytes("zeros", std::string(1000, '\0'));
  all.bytes("ones", std::string(1000, '\xff'));
  all.bytes("noise", random_bytes(5000, 7));
  all.bytes("a length of 2^63", "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  all.bytes("a number without an end", "\x08" + std::string(100, '\x80'));
  all.bytes("groups in groups", std::string(100000, '\x0b'));
  all.bytes("two graphs", whole + whole);
  for (const std::size_t part : {1, 3, 17, 63}) {
    all.bytes("cut after " + std::to_string(part) + "/64",
              whole.substr(0, whole.size() * part / 64));
  }
  all.graph("nodes in nodes", "", {2, 3},
            [](auto& deep) { nest(add_node(deep, "Loop", {"x"}, "y"), 40); });
  all.add("two million empty attributes", "MORTON_MODEL_MEMORY", [](const fs::path& folder) {
    // By hand: as messages they would take half a gigabyte here too.
    std::string attributes;
    for (int i = 0; i < 2'000'000; ++i) attributes += std::string("\x2a\0", 2);
    onnx::ModelProto many = model_with_input({2, 3});
    const std::string graph = many.graph().SerializeAsString() + field('\x0a', attributes);
    many.clear_graph();
    write_bytes(folder / "model.onnx", many.SerializeAsString() + field('\x3a', graph));
    return (folder / "model.onnx").string();
  });
  all.add("nodes in nodes, deeper than a stack", "", [](const fs::path& folder) {
    // By hand, for a library that refuses to write it: node { attribute { g { node { ...
    std::string inner;
    for (int depth = 0; depth < 20000 && inner.size() < 400000; ++depth) {
      inner = field('\x0a', field('\x2a', field('\x32', inner)));
    }
    onnx::ModelProto deep = model_with_input({2, 3});
    const std::string graph = deep.graph().SerializeAsString() + field('\x0a', inner);
    deep.clear_graph();
    write_bytes(folder / "model.onnx", deep.SerializeAsString() + field('\x3a', graph));
    return (folder / "model.onnx").string();
  });
}

void add_places(Collection& all) {
  all.add("a folder", "model.onnx", [](const fs::path& folder) {
    fs::create_directory(folder / "model.onnx");
    return (folder / "model.onnx").string();
  });
  all.add("a pipe", "model.onnx", [](const fs::path& folder) {
    ::mkfifo((folder / "model.onnx").c_str(), 0600);
    return (folder / "model.onnx").string();
  });
  all.add("a link to itself", "model.onnx", [](const fs::path& folder) {
    fs::create_symlink("model.onnx", folder / "model.onnx");
    return (folder / "model.onnx").string();
  });
  all.add("/dev/zero", "/dev/zero", [](const fs::path&) { return std::string("/dev/zero"); });
  all.add("a name that is no file", "",
          [](const fs::path& folder) { return (folder / std::string(300, 'n')).string(); });
}

}  // namespace morton::test
