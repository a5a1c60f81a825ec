// Implements match.h with match.hpp.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/c_options.hpp"
#include "batch/find_options.hpp"
#include "hemstitch/match.h"
#include "hemstitch/match.hpp"

struct hemstitch_matcher {
  hemstitch::LzssMatcher matcher;
};

struct hemstitch_pending_matches {
  hemstitch::PendingMatches matches;
};

namespace hemstitch {
namespace {

Parse parse_of(const char* name) {
  if (name == nullptr) return Parse::kOptimal;
  const std::vector<std::string_view> names = parse_names();
  const auto found = std::ranges::find(names, std::string_view(name));
  if (found == names.end())
    throw Error(Status::kInvalidOption,
                fmt::format("options.parse is '{}'; choose one of: {}", name, fmt::join(names, ", ")));
  return static_cast<Parse>(found - names.begin());
}

LzssMatcher matcher_of(const hemstitch_matcher_options* given) {
  const auto all = sized(given, "options");
  Finder finder = Finder::kCoopStitch;
  FinderParameters parameters;
  if (all.find != nullptr) {
    finder = finder_of_number(all.find->finder);
    parameters = parameters_of(*all.find);
  }
  if (all.literal_bits != 0) parameters.literal_cost = all.literal_bits;
  if (all.match_bits != 0) parameters.match_fixed_cost = all.match_bits;
  return LzssMatcher(parameters, finder, parse_of(all.parse),
                     all.backend != nullptr ? all.backend : "reference",
                     all.device != nullptr ? all.device : "",
                     between_pieces_of(all.between_pieces, all.between_pieces_context));
}

MatchBlock checked(const hemstitch_match_block& block) {
  need_for(block.bytes, block.data, "a block's data");
  if (block.history_bytes > block.bytes)
    throw Error(Status::kInvalidOption,
                fmt::format("a block's history_bytes is {}, but the block has {} bytes", block.history_bytes,
                            block.bytes));
  return {bytes_of(block.data, block.bytes), block.history_bytes};
}

std::vector<MatchBlock> checked(const hemstitch_match_block* blocks, std::size_t count) {
  need_for(count, blocks, "blocks");
  std::vector<MatchBlock> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(checked(blocks[i]));
  return made;
}

struct MatchLists {
  std::vector<hemstitch_match> matches;
  std::vector<std::size_t> first = {0};
};

void give(std::span<const std::vector<PositionedMatch>> lists, hemstitch_matches* matches) {
  auto found = std::make_unique<MatchLists>();
  for (const std::vector<PositionedMatch>& list : lists) {
    for (const PositionedMatch& match : list)
      found->matches.push_back({match.position, match.offset, match.length});
    found->first.push_back(found->matches.size());
  }
  *matches = {found->matches.data(), found->first.data(), lists.size(), nullptr};
  matches->owner = found.release();
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_find_options_for_preset(const char* name, hemstitch_find_options* options) {
  return guarded([&] {
    needed(options, "options");
    *options = options_for(HEMSTITCH_FINDER_COOP_STITCH, finder_preset(needed(name, "name")));
  });
}

void hemstitch_matches_free(hemstitch_matches* matches) {
  if (matches == nullptr) return;
  delete static_cast<MatchLists*>(matches->owner);
  *matches = {};
}

hemstitch_status hemstitch_matcher_new(const hemstitch_matcher_options* options,
                                       hemstitch_matcher** matcher) {
  return guarded([&] {
    needed(matcher, "matcher");
    *matcher = new hemstitch_matcher{matcher_of(options)};
  });
}

void hemstitch_matcher_free(hemstitch_matcher* matcher) { delete matcher; }

hemstitch_status hemstitch_matcher_prepare(const hemstitch_matcher* matcher) {
  return guarded([&] { needed(matcher, "matcher")->matcher.prepare(); });
}

hemstitch_status hemstitch_matcher_find(const hemstitch_matcher* matcher, const hemstitch_match_block* blocks,
                                        size_t count, hemstitch_matches* matches) {
  return guarded([&] {
    needed(matcher, "matcher");
    needed(matches, "matches");
    give(matcher->matcher.find_matches(checked(blocks, count)), matches);
  });
}

hemstitch_status hemstitch_matcher_candidates(const hemstitch_matcher* matcher,
                                              const hemstitch_match_block* block,
                                              hemstitch_candidate* candidates) {
  return guarded([&] {
    needed(matcher, "matcher");
    const MatchBlock given = checked(*needed(block, "block"));
    need_for(given.data.size() - given.history_bytes, candidates, "candidates");
    std::ranges::copy(matcher->matcher.find_candidates(given.data, given.history_bytes), candidates);
  });
}

hemstitch_status hemstitch_matcher_submit(const hemstitch_matcher* matcher,
                                          const hemstitch_match_block* blocks, size_t count,
                                          hemstitch_pending_matches** pending) {
  return guarded([&] {
    needed(matcher, "matcher");
    needed(pending, "pending");
    *pending = new hemstitch_pending_matches{matcher->matcher.submit(checked(blocks, count))};
  });
}

hemstitch_status hemstitch_pending_matches_are_ready(const hemstitch_pending_matches* pending, int* ready) {
  return guarded([&] { *needed(ready, "ready") = needed(pending, "pending")->matches.is_ready(); });
}

hemstitch_status hemstitch_pending_matches_take(hemstitch_pending_matches* pending,
                                                hemstitch_matches* matches) {
  return guarded([&] {
    needed(pending, "pending");
    needed(matches, "matches");
    give(pending->matches.take(), matches);
  });
}

hemstitch_status hemstitch_pending_matches_on_webgpu(const hemstitch_pending_matches* pending,
                                                     hemstitch_webgpu_matches* matches) {
  return guarded([&] {
    needed(matches, "matches");
    const DeviceMatches on_device = needed(pending, "pending")->matches.on_device();
    *matches = {on_device.device, on_device.queue, on_device.matches, on_device.begins};
  });
}

void hemstitch_pending_matches_free(hemstitch_pending_matches* pending) { delete pending; }

}  // extern "C"
