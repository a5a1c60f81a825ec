// The finders there are: a row each, in the order of Finder (hemstitch/match.hpp). docs/how-to-add-a-finder.md tells the rest.
//
// A finder's parameters are its name everywhere else: overloads of find_reference() and check_parameters() take them, and
// those of cuda::find() and webgpu::record_find() where a device has it. What its row says stands in them: kName, kFields
// (what it reads of FinderParameters besides the lengths and costs), defaults() and from(), and where they hold kCounts,
// kKeepsBeforeStitch and kJudgedBlockBytes.
#pragma once

#include <variant>

#include "match/brute_force/brute_force.hpp"
#include "match/coop_stitch/coop_stitch.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_pairs/hash_pairs.hpp"
#include "match/hash_step/hash_step.hpp"
#include "match/lazy_scan/lazy_scan.hpp"
#include "match/window_index/window_index.hpp"

namespace hemstitch {

using AnyFinder = std::variant<BruteForceParameters,   //
                               LazyScanParameters,     //
                               CoopStitchParameters,   //
                               WindowIndexParameters,  //
                               HashChainParameters,    //
                               HashStepParameters,     //
                               HashPairsParameters>;

}  // namespace hemstitch
