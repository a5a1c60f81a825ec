// Checksums of many spans by the kernels of CUDA on the processor (emulated_cuda.hpp): each span between pages that cannot be
// touched.
#pragma once

#include <memory>
#include <vector>

#include "format/checksum.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

inline std::vector<std::uint32_t> checksums_by_kernels(Checksum kind, std::span<const Bytes> spans,
                                                       Against against = Against::kUpperGuard) {
  std::vector<std::unique_ptr<KernelBuffer>> buffers;
  std::vector<const std::byte*> span_at;
  std::vector<std::size_t> sizes;
  for (const Bytes& span : spans) {
    buffers.push_back(std::make_unique<KernelBuffer>(span, against));
    span_at.push_back(buffers.back()->bytes().data());
    sizes.push_back(span.size());
  }
  std::vector<std::uint32_t> checksums(spans.size());
  const auto by = kind == Checksum::kXxh32   ? cuda::checksum_lz4_cuda
                  : kind == Checksum::kCrc32 ? cuda::crc32_spans_cuda
                                             : cuda::adler32_spans_cuda;
  by(span_at.data(), sizes.data(), spans.size(), checksums.data(), nullptr);
  return checksums;
}

}  // namespace hemstitch::testing
