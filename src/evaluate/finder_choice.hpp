// A finder as described on a command line, ready to run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "match/finders.hpp"

namespace hemstitch {

// Where a finder can run: its twin, or, in builds that have them, a CUDA device or WebGPU.
inline constexpr const char* kReferenceBackend = "reference";
inline constexpr const char* kCudaBackend = "cuda";
inline constexpr const char* kWebgpuBackend = "webgpu";

struct FinderChoice {
  std::string name;             // its description
  FinderParameters parameters;  // its lengths and costs also hold for the parse
  const FinderRow* row = nullptr;
  std::string backend = kReferenceBackend;
  std::string device = {};  // of the backend, as CompressOptions::device

  // Whether the backend has this finder.
  bool is_there() const;
  MatchRecords find(const FinderInput& input) const;
  FoundMatches find_with_stitch_apart(const FinderInput& input) const;

 private:
  FoundMatches run(const FinderInput& input, bool stitch_on, bool all) const;
  FoundMatches run_in_blocks(const FinderInput& input, const AnyFinder& finder, bool all) const;
};

// Throws kUnknownBackend if no such backend finds matches in this build, kDeviceUnavailable if it, or the
// device, cannot be used here.
void check_finding_backend(const std::string& name, const std::string& device);
// For a backend with a device. Throws like check_finding_backend().
std::string finding_device_name(const std::string& backend, const std::string& device);

// Reads a description: a finder's name, then, after colons, settings as "FIELD=VALUE" and, for coop_stitch,
// the name of a preset: "coop_stitch:near-1k:top_k=8". Settings are the fields that the finder reads, and
// "backend=cuda" for where to search. A field without a setting has its value from finder_defaults().
// "level:6" is the finder of a level of the default format, for blocks of 256K with the history before them.
// hash_pairs, which is for pages, searches blocks of one page. Throws kInvalidOption with what is wrong.
FinderChoice choose_finder(const std::string& description);

// {"min_match_len", 5}, ...: the parameters that this finder reads, for the record.
std::vector<std::pair<std::string_view, std::uint32_t>> parameters_read(const FinderChoice& choice);

}  // namespace hemstitch
