// Matches found by jobs for the device, a block at a time, and finders judged: what is behind LZSSMatcher.
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
  // By their names; the parameters are the finder's own then. Throw kInvalidOption, naming those there are.
  void set_finder(std::string_view finder);
  void set_parse(std::string_view parse);
  // A field of FinderParameters as document 000 spells it: "minMatchLength". After set_finder(). Throws kInvalidOption.
  void set_parameter(std::string_view name, std::uint32_t value);
  // Throws kInvalidOption with the name of the first field that is outside its limits, and for a finder without a shader.
  void check(const Limits& limits);

  // The most bytes of a block with its history.
  std::uint64_t most_block_bytes(const Limits& limits) const;

  // Where to put a block behind its history.
  std::span<std::byte> room(std::size_t bytes);
  // The block that stands there, of which `begin` is the position in the whole.
  std::string job(std::size_t history_bytes, std::uint32_t begin);
  // After it was done: three words for each match: position in the whole, offset, length.
  std::vector<std::uint32_t> take_matches();

  // The same bytes as one block of their own, with all that a finder counts; and then, as JSON, the five criteria of document 000
  // but for the latency.
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
