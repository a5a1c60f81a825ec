// Pages kept and restored by the kernels of CUDA on the processor (emulated_cuda.hpp): each between pages of memory that cannot be
// touched, as is each room.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "format/lz4/pages/lz4_pages_cuda.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

struct KeptByKernel {
  Lz4PageEntry entry;
  Bytes bytes;
};

inline std::vector<KeptByKernel> pages_kept_by_kernels(std::span<const Bytes> pages, const Lz4Level& level,
                                                       Against against = Against::kUpperGuard) {
  std::vector<std::unique_ptr<KernelBuffer>> inputs, rooms;
  std::vector<DeviceBlock> blocks;
  std::vector<std::byte*> room_at;
  DeviceBlocks batch;
  for (const Bytes& page : pages) {
    inputs.push_back(std::make_unique<KernelBuffer>(page, against));
    rooms.push_back(std::make_unique<KernelBuffer>(page.size(), against));
    blocks.push_back(
        {inputs.back()->bytes().data(), static_cast<std::uint32_t>(page.size()), 0, batch.total_block_bytes});
    room_at.push_back(rooms.back()->bytes().data());
    batch.max_block_bytes = std::max(batch.max_block_bytes, blocks.back().block_bytes);
    batch.total_block_bytes += page.size();
  }
  batch.d_blocks = blocks.data();
  batch.block_count = static_cast<std::uint32_t>(pages.size());
  std::vector<Lz4PageEntry> entries(pages.size());
  Bytes scratch(cuda::compress_lz4_pages_cuda_scratch_bytes(batch, level));
  cuda::compress_lz4_pages_cuda(batch, level, {room_at.data(), entries.data()}, scratch.data(),
                                scratch.size(), nullptr);
  std::vector<KeptByKernel> kept;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto room = rooms[i]->bytes();
    const auto bytes = room.first(std::min<std::size_t>(entries[i].bytes, room.size()));
    kept.push_back({entries[i], Bytes(bytes.begin(), bytes.end())});
  }
  return kept;
}

struct PageToRestore {
  Lz4PageEntry entry;
  std::span<const std::byte> kept;  // entry.bytes of them, unless the entry is not legal
  std::size_t page_bytes = kPageBytes;
};
struct PageByKernel {
  hemstitch_status status;
  Bytes page;  // if the status is OK
  bool operator==(const PageByKernel&) const = default;
};

inline std::vector<PageByKernel> pages_restored_by_kernels(std::span<const PageToRestore> pages,
                                                           Against against = Against::kUpperGuard) {
  std::vector<std::unique_ptr<KernelBuffer>> inputs, rooms;
  std::vector<const std::byte*> kept_at;
  std::vector<Lz4PageEntry> entries;
  std::vector<std::byte*> page_at;
  std::vector<std::size_t> page_bytes;
  std::vector<hemstitch_status> statuses(pages.size(), HEMSTITCH_INTERNAL);
  for (const PageToRestore& page : pages) {
    inputs.push_back(std::make_unique<KernelBuffer>(page.kept, against));
    rooms.push_back(std::make_unique<KernelBuffer>(page.page_bytes, against));
    kept_at.push_back(inputs.back()->bytes().data());
    entries.push_back(page.entry);
    page_at.push_back(rooms.back()->bytes().data());
    page_bytes.push_back(page.page_bytes);
  }
  const cuda::DeviceLz4PageRestore batch{kept_at.data(),    entries.data(),  page_at.data(),
                                         page_bytes.data(), statuses.data(), pages.size()};
  Bytes scratch(cuda::restore_lz4_pages_cuda_scratch_bytes(batch));
  cuda::restore_lz4_pages_cuda(batch, scratch.data(), scratch.size(), nullptr);
  std::vector<PageByKernel> restored;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto page = rooms[i]->bytes().first(statuses[i] == HEMSTITCH_OK ? page_bytes[i] : 0);
    restored.push_back({statuses[i], Bytes(page.begin(), page.end())});
  }
  return restored;
}

// What they should say.
inline PageByKernel page_restored_by_reference(const PageToRestore& page) {
  PageByKernel expected{HEMSTITCH_OK, Bytes(page.page_bytes)};
  expected.status =
      static_cast<hemstitch_status>(restore_lz4_page_reference(page.entry, page.kept, expected.page));
  if (expected.status != HEMSTITCH_OK) expected.page.clear();
  return expected;
}

}  // namespace hemstitch::testing
