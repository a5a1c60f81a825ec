#include "match/finders_webgpu.hpp"

#include <fmt/format.h>

#include "core/status.hpp"
#include "match/coop_stitch/coop_stitch_webgpu.hpp"
#include "match/hash_chain/hash_chain_webgpu.hpp"
#include "match/lazy_scan/lazy_scan_webgpu.hpp"
#include "match/window_index/window_index_webgpu.hpp"

namespace hemstitch::webgpu {

namespace {

template <typename Parameters>
concept HasShader = requires(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                             const Parameters& parameters) {
  record_find(recording, batch, buffers, parameters);
};

}  // namespace

bool has_shader(const AnyFinder& finder) {
  return std::visit([]<typename Parameters>(const Parameters&) { return HasShader<Parameters>; }, finder);
}

void record_find(const AnyFinder& finder, Recording& recording, const BlockBatch& batch,
                 const FinderBuffers& buffers) {
  std::visit(
      [&]<typename Parameters>(const Parameters& parameters) {
        if constexpr (HasShader<Parameters>)
          record_find(recording, batch, buffers, parameters);
        else
          throw Error(Status::kInvalidOption,
                      fmt::format("{} has no WebGPU shader; use backend 'reference'", Parameters::kName));
      },
      finder);
}

std::uint64_t find_heads_bytes(const AnyFinder& finder, std::uint64_t block_count) {
  return std::visit(
      [&](const auto& parameters) -> std::uint64_t {
        if constexpr (requires { find_heads_bytes(block_count, parameters); })
          return find_heads_bytes(block_count, parameters);
        else
          return 0;
      },
      finder);
}

}  // namespace hemstitch::webgpu
