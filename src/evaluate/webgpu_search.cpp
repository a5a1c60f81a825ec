#include "evaluate/webgpu_search.hpp"

#include "engine/registry.hpp"
#include "gpu/webgpu/devices.hpp"
#include "match/find_webgpu.hpp"
#include "match/hash_chain/hash_chain_webgpu.hpp"
#include "match/hash_step/hash_step_webgpu.hpp"
#include "match/links/links_webgpu.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;

MatchRecords find_by_hash(Device& device, const FinderInput& input, unsigned hash_bits, auto record,
                          const auto& parameters) {
  const SingleBlock block(input);
  BufferPlan plan;
  const BlockBatch batch = block.plan(plan);
  const HashFinderBuffers ids{plan.add("heads", link_heads_bytes(1, hash_bits)),
                              plan.add("records", input.data.size() * sizeof(MatchRecord)),
                              plan.add("other", input.data.size() * sizeof(MatchRecord)),
                              plan.add("marks", batch.tile_count * sizeof(std::uint32_t))};
  Recording recording;
  record(recording, batch, ids, parameters);
  const BufferSet buffers = device.make_buffers(plan);
  block.upload_to(device, buffers, batch);
  device.run(recording, buffers);
  return block.records_of(device, buffers[ids.other.index]);
}

}  // namespace

FoundMatches find_on_webgpu(const FinderChoice& choice, const FinderInput& input, bool stitch, bool all) {
  const std::shared_ptr<Device> device = open_device(wanted_device(choice.device));
  if (const auto* chain = std::get_if<HashChainParameters>(&choice.how)) {
    HashChainParameters parameters = *chain;
    parameters.window_bytes = choice.parameters.window_size;
    parameters.stitch = stitch;
    return {find_by_hash(*device, input, parameters.hash_bits, record_hash_chain, parameters), {}, {}};
  }
  if (const auto* step = std::get_if<HashStepParameters>(&choice.how)) {
    HashStepParameters parameters = *step;
    parameters.stitch = stitch;
    return {find_by_hash(*device, input, parameters.hash_bits, record_hash_step, parameters), {}, {}};
  }
  const Finder finder = std::get<Finder>(choice.how);
  SearchResult result = search(*device, input, finder, choice.parameters, all);
  FoundMatches found{std::move(result.records), {}, {}};
  if (all) found.counters = result.counters;
  if (all && finder == Finder::kCoopStitch) found.before_stitch = std::move(result.before_stitch);
  return found;
}

std::string webgpu_adapter_name(const std::string& device) {
  return open_device(wanted_device(device))->adapter().name;
}

}  // namespace hemstitch
