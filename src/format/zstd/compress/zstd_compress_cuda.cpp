// Finds the place of each part's output. zstd_encoder_cuda.hpp has everything else.
#include "format/zstd/compress/zstd_compress_cuda.hpp"

#include "compact/scan/scan_cuda.hpp"
#include "format/zstd/compress/zstd_encoder_cuda.hpp"

namespace hemstitch::cuda {
namespace {

struct ZstdSpanWork {
  Carver carver;
  ZstdEncoder encoder;
  ZstdPlacing placing{};
  std::size_t scan_bytes;
  std::byte* d_scan;

  ZstdSpanWork(const DeviceBlocks& parts, const ZstdLevel& level, void* d_scratch)
      : carver(d_scratch),
        encoder(parts, level, carver),
        scan_bytes(scan_sizes_cuda_scratch_bytes(parts.block_count)) {
    const std::uint32_t blocks = encoder.block_places().count;
    placing.d_block_sizes = encoder.d_block_sizes();
    placing.d_begins = carver.take<std::uint32_t>(blocks);
    placing.d_rooms = carver.take<std::uint32_t>(parts.block_count);
    placing.d_targets = carver.take<std::byte*>(blocks);
    d_scan = carver.take<std::byte>(scan_bytes);
  }
};

}  // namespace

std::size_t compress_zstd_span_cuda_scratch_bytes(const DeviceBlocks& parts, const ZstdLevel& level) {
  return ZstdSpanWork(parts, level, nullptr).carver.bytes();
}

void compress_zstd_span_cuda(const DeviceBlocks& parts, const ZstdLevel& level, const DeviceSpan& span,
                             void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const ZstdSpanWork work(parts, level, d_scratch);
  check_scratch("compress_zstd_span", work.carver.bytes(), d_scratch, scratch_bytes);
  const ZstdEncoder& encoder = work.encoder;
  encoder.find_and_parse(stream);
  size_zstd_parts_cuda(parts, encoder.block_places(), work.placing, span, stream);
  scan_sizes_cuda(work.placing.d_rooms, parts.block_count, span.d_offsets, work.d_scan, work.scan_bytes,
                  stream);
  place_zstd_blocks_cuda(parts, encoder.block_places(), work.placing, span, stream);
  encoder.pack(work.placing.d_targets, stream);
}

}  // namespace hemstitch::cuda
