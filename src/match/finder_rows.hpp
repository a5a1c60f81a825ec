// The finders: a row for each, in the order of Finder (hemstitch/match.hpp). docs/how-to-add-a-finder.md
// explains the rest.
//
// The type of a finder's parameters identifies it everywhere else: overloads of find_reference() and
// check_parameters() take it, and those of cuda::find() and webgpu::record_find() if a device has the finder.
// The type declares the data of the row: kName, kFields (the fields of FinderParameters that it reads besides
// the lengths and costs), defaults() and from(), and if they apply kCounts, kKeepsBeforeStitch and
// kJudgedBlockBytes.
#pragma once

#include <variant>

#include "match/brute_force/brute_force.hpp"
#include "match/coop_stitch/coop_stitch.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_pairs/hash_pairs.hpp"
#include "match/lazy_scan/lazy_scan.hpp"
#include "match/window_index/window_index.hpp"

namespace hemstitch {

using AnyFinder = std::variant<BruteForceParameters,   //
                               LazyScanParameters,     //
                               CoopStitchParameters,   //
                               WindowIndexParameters,  //
                               HashChainParameters,    //
                               HashPairsParameters>;

}  // namespace hemstitch
