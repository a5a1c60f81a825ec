// A finder as a person describes it on a command line, made ready to run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "match/finders.hpp"

namespace hemstitch {

// Where a finder can run: by its twin, or, in builds with them, on the CUDA device and through WebGPU.
inline constexpr const char* kReferenceBackend = "reference";
inline constexpr const char* kCudaBackend = "cuda";
inline constexpr const char* kWebgpuBackend = "webgpu";

struct FinderChoice {
  std::string name;             // its description
  FinderParameters parameters;  // the lengths and costs also hold for the parse
  const FinderRow* row = nullptr;
  std::string backend = kReferenceBackend;
  std::string device = {};  // of the backend, as CompressOptions::device

  // Whether its backend has this finder.
  bool is_there() const;
  MatchRecords find(const FinderInput& input) const;
  FoundMatches find_with_stitch_apart(const FinderInput& input) const;

 private:
  FoundMatches run(const FinderInput& input, bool stitch_on, bool all) const;
  FoundMatches run_in_blocks(const FinderInput& input, const AnyFinder& finder, bool all) const;
};

// Throws kUnknownBackend where none of that name finds matches in this build, kDeviceUnavailable where it, or the device, cannot here.
void check_finding_backend(const std::string& name, const std::string& device);
// Of a backend that is a device. Throws like check_finding_backend().
std::string finding_device_name(const std::string& backend, const std::string& device);

// From its description: a finder's name, then, after colons, settings as "FIELD=VALUE" and, for coop_stitch,
// the name of a preset: "coop_stitch:near-1k:top_k=8". Settings are those fields that the finder reads. "level:6" is the finder of a level of the default format, for blocks of
// 256K with what stands before them; "backend=cuda" is where to search. Without a setting a field is as finder_defaults() has it.
// hash_pairs, which is for pages, finds in blocks of a page.
// Throws kInvalidOption, naming
// what is wrong.
FinderChoice choose_finder(const std::string& description);

// {"min_match_len", 5}, ..: the parameters that this finder reads, for the record.
std::vector<std::pair<std::string_view, std::uint32_t>> parameters_read(const FinderChoice& choice);

}  // namespace hemstitch
