// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/open/instruction_trial.hpp"
#include "device/open/processor.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using device::describe_core;
using device::ProcessorDescription;

/// A CPU whose driver states such a native vector, described by /proc/cpuinfo.
CoreFacts core_of(std::int64_t native_vector, const std::string& cpuinfo) {
  DeviceInfo info;
  info.kind = DeviceInfo::Kind::cpu;
  info.compute.native_vector_f32 = native_vector;
  info.core = guessed_core(info);
  ProcessorDescription processor;
  processor.cpuinfo = cpuinfo;
  describe_core(processor, info);
  return info.core;
}

std::string amd(int family, const std::string& flags) {
  return "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: " + std::to_string(family) +
         "\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse sse4_1 " + flags + "\n\nprocessor\t: 1\n";
}

TEST(Processor, OfAvx512Has32RegistersOf16) {
  const CoreFacts core = core_of(16, amd(26, "fma avx2 avx512f avx512_vnni"));
  EXPECT_EQ(core.lanes, 16);
  EXPECT_EQ(core.vector_registers, 32);
  EXPECT_EQ(core.multiply_adds_per_cycle, 2);
  EXPECT_TRUE(core.dot_products);
  EXPECT_EQ(core.sources.at("lanes"), "OpenCL");
  EXPECT_EQ(core.sources.at("vector_registers"), "/proc/cpuinfo");
  // Zen 4 takes two cycles for a vector of 512 bits.
  EXPECT_EQ(core_of(16, amd(25, "fma avx2 avx512f")).multiply_adds_per_cycle, 1);
}

TEST(Processor, OfAvx2Has16RegistersOf8) {
  const CoreFacts core = core_of(8, amd(25, "fma avx2"));
  EXPECT_EQ(core.lanes, 8);
  EXPECT_EQ(core.vector_registers, 16);
  EXPECT_EQ(core.multiply_adds_per_cycle, 2);
  EXPECT_FALSE(core.dot_products);
}

TEST(Processor, CountsAsTheDriverCompilesForIt) {
  const CoreFacts core = core_of(8, amd(26, "fma avx2 avx512f avx512_vnni"));
  EXPECT_EQ(core.lanes, 8);
  EXPECT_EQ(core.vector_registers, 16);
  EXPECT_FALSE(core.dot_products);
}

TEST(Processor, SpeaksWhereTheDriverDoesNot) {
  const CoreFacts core = core_of(1, amd(25, "fma avx2"));
  EXPECT_EQ(core.lanes, 8);
  EXPECT_EQ(core.sources.at("lanes"), "/proc/cpuinfo");
  EXPECT_EQ(core_of(1, amd(16, "ssse3")).lanes, 4);
  EXPECT_EQ(core_of(1, amd(16, "ssse3")).multiply_adds_per_cycle, 1);
}

TEST(Processor, OfArmHas32RegistersOf4) {
  const CoreFacts core = core_of(4, "processor\t: 0\nFeatures\t: fp asimd evtstrm asimddp\n");
  EXPECT_EQ(core.lanes, 4);
  EXPECT_EQ(core.vector_registers, 32);
  EXPECT_TRUE(core.dot_products);
  EXPECT_EQ(core_of(1, "Features\t: half thumb neon\n").vector_registers, 16);
}

TEST(Processor, IsGuessedWhereNothingIsKnown) {
  const CoreFacts core = core_of(1, "");
  EXPECT_EQ(core.lanes, 4);
  EXPECT_EQ(core.sources.at("lanes"), "guessed from the native vector");
}

TEST(Processor, StatesCachesAndThreads) {
  DeviceInfo info;
  info.core = guessed_core(info);
  ProcessorDescription processor;
  processor.l1_bytes = 48 << 10;
  processor.l2_bytes = 2 << 20;
  processor.thread_siblings = "0,64\n";
  describe_core(processor, info);
  EXPECT_EQ(info.core.l1_bytes, 48 << 10);
  EXPECT_EQ(info.core.l2_bytes, 2 << 20);
  EXPECT_EQ(info.core.threads_per_core, 2);
  EXPECT_EQ(info.core.sources.at("l2_bytes"), "/sys");
  processor.thread_siblings = "0-3\n";
  describe_core(processor, info);
  EXPECT_EQ(info.core.threads_per_core, 4);
}

TEST(Processor, OfThisMachineIsRead) {
  const ProcessorDescription read = ProcessorDescription::read();
  if (read.cpuinfo.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  EXPECT_GE(read.l1_bytes, 0);
}

TEST(Processor, DotProductsThatItDescribesWork) {
  DeviceInfo info;
  describe_core(ProcessorDescription::read(), info);
  if (!info.core.dot_products) GTEST_SKIP() << "the processor describes none";
  EXPECT_FALSE(device::dot_products_fail(info.core.lanes));
  EXPECT_FALSE(device::dot_products_fail(4));  // nothing to try
}

}  // namespace
}  // namespace morton::test
