// The hash width of each block, where its values decide (contract: hash_width.hpp).
//
// Passes      choose   a workgroup owns a block and samples 16 stretches of it, a position of each for an invocation
// Buffers     data_words, blocks (read); widths (written) behind `first_width` words of heads, which are left alone, 4 bytes a block
// Workgroup   256 invocations, 8 KB: how many words of the sample fell into each slot; how many slots are used, and how many
//             pairs of words share one

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl

struct Parameters {
  block_count: u32,
  first_width: u32,
  hash_bytes: u32,
  few_values_hash_bytes: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read_write> widths: array<u32>;

const kThreads = 256u;
const kStretches = 16u;
const kSlotBits = 11u;
const kLeastBlockBytes = 8192u;
const kLeastUsedSlots = 16u;
const kMostUsedSlots = 480u;
const kMostUsedTimesPairs = 20971520u;
const kShortChainsBlockBytes = 65536u;

var<workgroup> sh_words: array<atomic<u32>, 1u << kSlotBits>;
var<workgroup> sh_used: atomic<u32>;
var<workgroup> sh_pairs: atomic<u32>;

@compute @workgroup_size(kThreads)
fn choose(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  for (var slot = thread; slot < (1u << kSlotBits); slot += kThreads) {
    atomicStore(&sh_words[slot], 0u);
  }
  if (thread == 0u) {
    atomicStore(&sh_used, 0u);
    atomicStore(&sh_pairs, 0u);
  }
  workgroupBarrier();

  if (block.block_bytes >= kLeastBlockBytes) {
    let step = block.block_bytes / kStretches;
    var used = 0u;
    var pairs = 0u;
    for (var stretch = 0u; stretch < kStretches; stretch++) {
      let place = block_begin(block) + stretch * step + step / 2u - kThreads / 2u + thread;
      let before = atomicAdd(&sh_words[(data_word(place) * 2654435769u) >> (32u - kSlotBits)], 1u);
      used += select(0u, 1u, before == 0u);
      pairs += before;
    }
    atomicAdd(&sh_used, used);
    atomicAdd(&sh_pairs, pairs);
  }
  workgroupBarrier();

  if (thread == 0u) {
    let used = atomicLoad(&sh_used);
    // The product fits only where few slots are used.
    let few_values = used >= kLeastUsedSlots && used <= kMostUsedSlots &&
                     used * atomicLoad(&sh_pairs) <= kMostUsedTimesPairs;
    let less = select(0u, 1u, block.block_bytes <= kShortChainsBlockBytes);
    widths[parameters.first_width + number] =
        select(parameters.hash_bytes, parameters.few_values_hash_bytes - less, few_values);
  }
}
