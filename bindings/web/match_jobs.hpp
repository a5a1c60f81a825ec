// Finds matches with jobs for the device, one block at a time, and judges finders: the inside of LZSSMatcher.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/matching_plan_webgpu.hpp"
#include "job_text.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch::web {

class MatchFinder {
 public:
  // By their names; this sets the finder's own parameters. Throw kInvalidOption with the names that exist.
  void set_finder(std::string_view finder);
  void set_parse(std::string_view parse);
  // A field of FinderParameters in the spelling of document 000: "minMatchLength". Call it after
  // set_finder(). Throws kInvalidOption.
  void set_parameter(std::string_view name, std::uint32_t value);
  // Throws kInvalidOption with the name of the first field that is outside its limits, and for a finder
  // without a shader.
  void check(const Limits& limits);

  // The most bytes of a block with its history.
  std::uint64_t most_block_bytes(const Limits& limits) const;

  // Where to put a block, after its history.
  std::span<std::byte> room(std::size_t bytes);
  // The block in that place, whose position in the whole is `begin`.
  std::string job(std::size_t history_bytes, std::uint32_t begin);
  // After the job: three words for each match: position in the whole, offset, length.
  std::vector<std::uint32_t> take_matches();

  // The same bytes as one block of their own, with everything that a finder counts. Then, as JSON, the five
  // criteria of document 000 except the latency.
  std::string judging_job();
  std::string judgement();

 private:
  Finder finder_ = Finder::kCoopStitch;
  Parse parse_ = Parse::kOptimal;
  FinderParameters parameters_;
  Limits limits_;
  std::vector<std::byte> data_;  // in whole words
  std::size_t data_bytes_ = 0;
  std::uint32_t begin_ = 0;
  webgpu::BlockTable table_;
  std::vector<std::uint32_t> begins_;
  std::vector<webgpu::DeviceMatch> found_;
  std::vector<std::uint32_t> records_, before_stitch_;
  std::vector<FindCounters> counters_;
};

}  // namespace hemstitch::web
