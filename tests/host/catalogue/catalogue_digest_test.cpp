// SPDX-License-Identifier: Apache-2.0
//
// By what tuned values know a kernel: its code and its values, not how they are written.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/measured/tuned.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::string_view kDigestEntry = R"json({
  "schema": 1, "name": "gemm.mine", "problem": "gemm", "source": "mine.cl", "function": "mine",
  "operands": {
    "lhs": {"layout": "R_{TILE}_4_R", "types": ["f32"], "padding": "zero"},
    "rhs": {"layout": "any", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"]}
  },
  "edges": "guard", "arguments": ["M", "lhs", "rhs", "dst"],
  "global": ["ceil_div(M, TILE)"], "local": [1],
  "tunables": {"TILE": {"values": [2, 4], "standard": 4}},
  "require": ["M > 1 and N > 1"], "epilogue": ["any"],
  "cost": {"flop": "2*M*N*K", "bytes": "4*M*N", "efficiency": {"cpu": 0.1, "gpu": 1}}
})json";
constexpr std::string_view kDigestSource = "__kernel void mine(ARGUMENTS) { int a = TILE; }\n";

EntryDigest entry_digest_with(std::string_view json, std::string_view source) {
  Catalogue catalogue;
  catalogue.add_text(json, "mine.json", [&](const std::string&) { return std::string(source); });
  const Entry* batched = catalogue.find_entry("batched_gemm.mine");
  const EntryDigest digest = catalogue.find_entry("gemm.mine")->program.digest;
  EXPECT_EQ(batched->program.digest.kernel, digest.kernel);
  EXPECT_EQ(batched->program.digest.files, digest.files);
  return digest;
}

EntryDigest good_digest() { return entry_digest_with(kDigestEntry, kDigestSource); }

/// Of the entry with a JSON merge patch: null removes a key.
std::string kernel_digest_with(std::string_view patch) {
  Json json = parse_json(kDigestEntry, "entry");
  json.merge_patch(parse_json(patch, "patch"));
  return entry_digest_with(json.dump(2), kDigestSource).kernel;
}

TEST(EntryDigest, IgnoresCommentsBlanksNotesAndGuesses) {
  const EntryDigest good = good_digest();
  const std::string head = "// SPDX-License-Identifier: Apache-2.0\n#line 9 \"mine.cl\"\n";
  const EntryDigest commented =
      entry_digest_with(kDigestEntry, head + std::string(kDigestSource) + "\n// end\n");
  EXPECT_EQ(commented.kernel, good.kernel);
  EXPECT_NE(commented.files, good.files);
  for (const char* patch :
       {R"({})", R"({"notes": "what it is for"})", R"({"notes": ["a", "b"]})",
        R"j({"global": ["ceil_div( M,TILE )"]})j", R"({"cost": {"flop": "2 * M*N * K"}})",
        R"({"cost": {"bytes": null, "efficiency": {"cpu": 0.5}}})",
        R"({"tunables": {"TILE": {"standard": 2}}})", R"({"require": ["M > 2"]})"}) {
    EXPECT_EQ(kernel_digest_with(patch), good.kernel) << patch;
  }
}

TEST(EntryDigest, DependsOnCodeAndValues) {
  const std::string good = good_digest().kernel;
  EXPECT_NE(
      entry_digest_with(kDigestEntry, "__kernel void mine(ARGUMENTS) { int a = 2*TILE; }\n").kernel,
      good);
  for (const char* patch :
       {R"({"operands": {"lhs": {"layout": "R_{TILE}_8_R"}}})",
        R"({"operands": {"lhs": {"padding": "finite"}}})",
        R"({"operands": {"rhs": {"layout": "R"}}})", R"({"align": {"M": "TILE"}})",
        R"({"edges": "pad"})", R"j({"global": ["ceil_div(N, TILE)"]})j", R"({"local": [2]})",
        R"({"local_memory_bytes": 64})", R"({"tunables": {"TILE": {"values": [2, 4, 8]}}})",
        R"({"epilogue": []})", R"({"arguments": ["M", "N", "lhs", "rhs", "dst"]})",
        R"({"terms_per_truncation": 4})", R"({"terms_in_f16": 4})",
        R"({"cost": {"flop": "M*N*K"}})", R"({"cost": {"work": "2*M*N"}})"}) {
    EXPECT_NE(kernel_digest_with(patch), good) << patch;
  }
}

/// Records that were written when a digest was of the files as they were, and padding contents were
/// called rim.
TEST(EntryDigest, KnowsTheFilesDigestOfRecordsFromBefore) {
  const EntryDigest digest = good_digest();
  constexpr std::string_view kKey = "\"padding\"";
  std::string entry(kDigestEntry);
  entry.replace(entry.find(kKey), kKey.size(), "\"rim\"");
  const std::string before = digest_of(digest_of(entry) + std::string(kDigestSource));
  EXPECT_EQ(digest.files, before);
  EXPECT_TRUE(digest.is(before));
  EXPECT_TRUE(digest.is(digest.kernel));
  EXPECT_FALSE(digest.is(digest_of("another text")));
}

TEST(EntryDigest, RecordsFromBeforeGetTheDigestInUse) {
  Catalogue catalogue;
  catalogue.add_text(kDigestEntry, "mine.json",
                     [](const std::string&) { return std::string(kDigestSource); });
  const EntryDigest& digest = catalogue.find_entry("gemm.mine")->program.digest;
  TunedData data;
  for (const std::string& hash : {digest.files, digest.kernel, std::string("another")}) {
    TunedRecord record;
    record.kernel = "gemm.mine";
    record.hash = hash;
    data.add(record);
    data.add(Verdict{{}, "gemm.mine", hash, {}, ""});
  }
  data.renew_digests(catalogue);
  const std::vector<std::string> expected{digest.kernel, digest.kernel, "another"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(data.records()[i].hash, expected[i]);
    EXPECT_EQ(data.verdicts()[i].hash, expected[i]);
  }
}

TEST(EntryDigest, NotesAreTexts) {
  Json json = parse_json(kDigestEntry, "entry");
  json["notes"] = 1;
  EXPECT_THROW(static_cast<void>(entry_digest_with(json.dump(), kDigestSource)), ModelError);
}

constexpr std::string_view kDigestLibrary = R"json({"sources": [{
  "codename": "mine", "function": "mine", "source": "mine.cl",
  "restrictions": {
    "a": {"representation": "R"}, "b": {"representation": "R"}, "r": {"representation": "R"},
    "arglist": "lwh"
  }
}]})json";

TEST(EntryDigest, OfALibrarysKernelIsOfItAlone) {
  const auto digest = [](std::string_view json, std::string_view source) {
    Catalogue catalogue;
    catalogue.add_text(json, "library.json",
                       [&](const std::string&) { return std::string(source); });
    return catalogue.find_entry("mine")->program.digest;
  };
  constexpr std::string_view kText = "__kernel void mine(int l) { }\n";
  const EntryDigest good = digest(kDigestLibrary, kText);
  EXPECT_EQ(digest(kDigestLibrary, "// a comment\n" + std::string(kText)).kernel, good.kernel);
  Json two = parse_json(kDigestLibrary, "library");
  two["sources"].push_back(two["sources"][0]);
  two["sources"][1]["codename"] = "other";
  EXPECT_EQ(digest(two.dump(), kText).kernel, good.kernel);
  Json taller = parse_json(kDigestLibrary, "library");
  taller["sources"][0]["restrictions"]["scale"]["rows"] = 2;
  EXPECT_NE(digest(taller.dump(), kText).kernel, good.kernel);
}

}  // namespace
}  // namespace morton::test
