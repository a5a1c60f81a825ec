// A finder as a person describes it on a command line, made ready to run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "match/find.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_step/hash_step.hpp"

namespace hemstitch {

// What one run of a finder gives to those who judge it.
struct FoundMatches {
  MatchRecords records;
  std::optional<MatchRecords> before_stitch;  // of finders with a stitch that is on: what they had without it
  std::optional<SearchCounters> counters;     // of finders that count
};

// Where a finder can run: by its twin, or, in builds with them, on the CUDA device and through WebGPU.
inline constexpr const char* kReferenceBackend = "reference";
inline constexpr const char* kCudaBackend = "cuda";
inline constexpr const char* kWebgpuBackend = "webgpu";

struct FinderChoice {
  std::string name;             // its description
  FinderParameters parameters;  // the lengths and costs also hold for the parse
  std::variant<Finder, HashChainParameters, HashStepParameters> how;
  std::string backend = kReferenceBackend;
  std::string device = {};  // of the backend, as CompressOptions::device

  MatchRecords find(const FinderInput& input) const;
  FoundMatches find_with_stitch_apart(const FinderInput& input) const;

 private:
  FoundMatches run(const FinderInput& input, bool stitch_on, bool all) const;
};

// Throws kUnknownBackend where none of that name finds matches in this build, kDeviceUnavailable where it, or the device, cannot here.
void check_finding_backend(const std::string& name, const std::string& device);
// Of a backend that is a device. Throws like check_finding_backend().
std::string finding_device_name(const std::string& backend, const std::string& device);

// From its description: a finder's name, then, after colons, settings as "FIELD=VALUE" and, for coop_stitch,
// the name of a preset: "coop_stitch:near-1k:top_k=8". "level:6" is the finder of an LZ4 level, for blocks of
// 256K with what stands before them; "backend=cuda" is where to search. Without a setting, brute_force and window_index search 4096 offsets,
// lazy_scan 32768 with 1024 of them in full, and hash_chain 32768 at depth 8. Throws kInvalidOption, naming
// what is wrong.
FinderChoice choose_finder(const std::string& description);

// {"min_match_len", 5}, ..: the parameters that this finder reads, for the record.
std::vector<std::pair<std::string_view, std::uint32_t>> parameters_read(const FinderChoice& choice);

}  // namespace hemstitch
