// Runs any parse through WebGPU, also after any finder: includes a header for each of those in
// parse/parse_rows.hpp.
#pragma once

#include <string>

#include "core/status.hpp"
#include "match/finders_webgpu.hpp"
#include "parse/optimal/optimal_webgpu.hpp"
#include "parse/parse_rows.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

// Writes the decisions of a parse, for record_walk(). Throws kInvalidOption for costs that it does not
// support, and for a parse without an overload here: optimal_exact needs one more array than a batch has.
template <typename Costs>
void record_parse(const AnyParse<Costs>& parse, Recording& recording, const BlockBatch& batch,
                  BufferId records, BufferId decisions, const BlockPlan& plan) {
  std::visit(
      [&]<typename Parameters>(const Parameters& parameters) {
        if constexpr (requires { record_parse(recording, batch, records, decisions, plan, parameters); })
          record_parse(recording, batch, records, decisions, plan, parameters);
        else
          throw Error(Status::kInvalidOption, std::string(Parameters::kName) +
                                                  " does not run after a finder on WebGPU; "
                                                  "use backend 'reference'");
      },
      parse);
}

// From bytes to sequences. The parse is the last step that reads the records.
template <typename Costs>
void record_find_and_parse(const AnyFinder& finder, const AnyParse<Costs>& parse, Recording& recording,
                           const BlockBatch& batch, const FinderBuffers& buffers, const WalkBuffers& walk,
                           const BlockPlan& plan) {
  record_find(finder, recording, batch, buffers);
  record_parse(parse, recording, batch, buffers.output.records, walk.decisions, plan);
  record_walk(recording, batch, walk);
}

}  // namespace hemstitch::webgpu
