// SPDX-License-Identifier: Apache-2.0
//
// Words of other programs for neural networks, OpenCL and training.
#include "shell/synonyms.hpp"

#include <cctype>
#include <span>

namespace morton::cli {
namespace {

struct Synonym {
  std::string_view theirs;  ///< as plain_word() has it
  std::string_view ours;
};

constexpr Synonym kOptionSynonyms[] = {
    {"absolutetolerance", "--atol"},
    {"augmentation", "--augment"},
    {"backend", "--device"},
    {"batches", "--batch"},
    {"batchsize", "--batch"},
    {"bf16", "--precision bf16"},
    {"bs", "--batch"},
    {"cache", "--cache-dir"},
    {"cachefolder", "--cache-dir"},
    {"classes", "--labels"},
    {"cpu", "--device cpu"},
    {"csv", "--format csv"},
    {"dataset", "--data"},
    {"debug", "--verbose"},
    {"dev", "--device"},
    {"dtype", "--precision"},
    {"dumpprofile", "--layers"},
    {"e", "--device"},
    {"exportjson", "--format json"},
    {"exportlayers", "--layers"},
    {"exportprofile", "--layers"},
    {"exporttimes", "--trace"},
    {"fp16", "--precision f16"},
    {"fp32", "--precision f32"},
    {"gpu", "--device gpu"},
    {"graph", "MODEL"},
    {"half", "--precision f16"},
    {"inferprecision", "--precision"},
    {"inputs", "--input"},
    {"inputshape", "--shape"},
    {"inputshapes", "--shape"},
    {"iter", "--iterations"},
    {"iters", "--iterations"},
    {"json", "--format json"},
    {"jsonstats", "--format json"},
    {"kernels", "--use"},
    {"learningrate", "--lr"},
    {"learnrate", "--lr"},
    {"loadinputs", "--input"},
    {"loops", "--iterations"},
    {"m", "MODEL"},
    {"markdown", "--format md"},
    {"md", "--format md"},
    {"minsecs", "--duration"},
    {"model", "MODEL"},
    {"modelfile", "MODEL"},
    {"network", "MODEL"},
    {"niter", "--iterations"},
    {"nofallback", "--strict"},
    {"numepochs", "--epochs"},
    {"numiterations", "--iterations"},
    {"numruns", "--iterations"},
    {"onnx", "MODEL"},
    {"optim", "--optimizer"},
    {"out", "--output"},
    {"outdir", "--out"},
    {"output", "--out"},
    {"outputdir", "--out"},
    {"outputfile", "--output"},
    {"pc", "--layers"},
    {"platform", "--device"},
    {"profile", "--layers"},
    {"r", "--iterations"},
    {"randomseed", "--seed"},
    {"reference", "--ref"},
    {"relativetolerance", "--rtol"},
    {"repeat", "--iterations"},
    {"repeats", "--iterations"},
    {"repetitions", "--iterations"},
    {"runs", "--iterations"},
    {"savemodel", "--out"},
    {"shapes", "--shape"},
    {"silent", "--quiet"},
    {"t", "--duration"},
    {"time", "--duration"},
    {"timingcachefile", "--cache-dir"},
    {"top", "--top-k"},
    {"top5", "--top-k 5"},
    {"traindata", "--data"},
    {"usegpu", "--device gpu"},
    {"valsplit", "--validation"},
    {"warmupruns", "--warmup"},
    {"warmuptime", "--warmup"},
    {"weightdecay", "--weight-decay"},
    {"wd", "--weight-decay"},
    {"workspace", "--workspace-limit"},
    {"workspacesize", "--workspace-limit"},
};

constexpr Synonym kCommandSynonyms[] = {
    {"accuracy", "eval"},     {"analyze", "inspect"},   {"autotune", "tune"},
    {"benchmark", "bench"},   {"check", "doctor"},      {"check", "compare"},
    {"classify", "run"},      {"clean", "cache"},       {"convert", "compile"},
    {"create", "new"},        {"diagnose", "doctor"},   {"diff", "compare"},
    {"evaluate", "eval"},     {"example", "demo"},      {"export", "compile"},
    {"finetune", "train"},    {"fit", "train"},         {"help", "--help"},
    {"infer", "run"},         {"inference", "run"},     {"info", "inspect"},
    {"info", "devices"},      {"init", "new"},          {"learn", "train"},
    {"list", "devices"},      {"ls", "devices"},        {"measure", "bench"},
    {"models", "new"},        {"optimize", "compile"},  {"peak", "probe"},
    {"perf", "bench"},        {"platforms", "devices"}, {"predict", "run"},
    {"quantise", "quantize"}, {"roofline", "probe"},    {"show", "inspect"},
    {"source", "kernel"},     {"speed", "bench"},       {"summary", "inspect"},
    {"test", "compare"},      {"test", "eval"},         {"time", "bench"},
    {"trace", "profile"},     {"tuner", "tune"},        {"validate", "eval"},
    {"verify", "compare"},    {"version", "--version"},
};

std::vector<std::string> ours_of(std::span<const Synonym> synonyms, const std::string& plain) {
  std::vector<std::string> ours;
  for (const Synonym& synonym : synonyms) {
    if (synonym.theirs == plain) ours.emplace_back(synonym.ours);
  }
  return ours;
}

}  // namespace

std::string plain_word(std::string_view word) {
  std::string plain;
  for (const char letter : word.substr(0, word.find('='))) {
    if (letter == '-' || letter == '_') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return plain;
}

std::vector<std::string> options_called(const std::string& plain) {
  return ours_of(kOptionSynonyms, plain);
}

std::vector<std::string> commands_called(const std::string& plain) {
  return ours_of(kCommandSynonyms, plain);
}

}  // namespace morton::cli
