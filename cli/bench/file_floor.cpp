#include "cli/bench/file_floor.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>

#include "cli/bench/nameless_file.hpp"
#include "cli/messages.hpp"
#include "core/parallel.hpp"
#include "files/save/mapped_range.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kFilledPieceBytes = std::size_t{1} << 20;

// Calls piece(at, bytes of it) for all pieces, with all threads.
template <typename Piece>
void for_pieces(std::span<const std::byte> bytes, unsigned threads, const Piece& piece) {
  run_on_threads(threads, [&] {
    run_in_parallel((bytes.size() + kFilledPieceBytes - 1) / kFilledPieceBytes, 1, [&](std::size_t i) {
      const std::size_t at = i * kFilledPieceBytes;
      piece(at, bytes.subspan(at, std::min(kFilledPieceBytes, bytes.size() - at)));
    });
  });
}

void fill_by_writing(int descriptor, std::span<const std::byte> bytes, unsigned threads) {
  for_pieces(bytes, threads, [&](std::size_t at, std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const ssize_t count = pwrite(descriptor, piece.data(), piece.size(), static_cast<off_t>(at));
      if (count < 0 && errno != EINTR) throw tool_error_from_errno("writing a temporary file");
      if (count <= 0) continue;
      at += static_cast<std::size_t>(count);
      piece = piece.subspan(static_cast<std::size_t>(count));
    }
  });
}

bool fill_allocated(int descriptor, std::span<const std::byte> bytes, unsigned threads) {
  const auto range = MappedRange::of(descriptor, 0, bytes.size());
  if (!range) return false;
  for_pieces(bytes, threads, [&](std::size_t at, std::span<const std::byte> piece) {
    std::memcpy(range->bytes().data() + at, piece.data(), piece.size());
  });
  return true;
}

bool fill_populated([[maybe_unused]] int descriptor, [[maybe_unused]] std::span<const std::byte> bytes,
                    [[maybe_unused]] unsigned threads) {
#ifdef MADV_POPULATE_WRITE  // which fails where the space is used up, while touching such a page ends the process
  if (ftruncate(descriptor, static_cast<off_t>(bytes.size())) != 0) return false;
  void* const memory = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  const auto unmap = [&bytes](void* mapping) { munmap(mapping, bytes.size()); };
  const std::unique_ptr<void, decltype(unmap)> mapping(memory, unmap);
  std::atomic<bool> is_supported{true};
  for_pieces(bytes, threads, [&](std::size_t at, std::span<const std::byte> piece) {
    std::byte* const into = static_cast<std::byte*>(memory) + at;
    if (madvise(into, piece.size(), MADV_POPULATE_WRITE) == 0)
      std::memcpy(into, piece.data(), piece.size());
    else
      is_supported = false;
  });
  return is_supported;
#else
  return false;
#endif
}

}  // namespace

bool fill(Filling way, int descriptor, std::span<const std::byte> bytes, unsigned threads) {
  if (way == Filling::kAllocated) return fill_allocated(descriptor, bytes, threads);
  if (way == Filling::kPopulated) return !bytes.empty() && fill_populated(descriptor, bytes, threads);
  fill_by_writing(descriptor, bytes, threads);
  return true;
}

double floor_seconds(std::span<const std::byte> bytes, unsigned threads) {
  double least = std::numeric_limits<double>::infinity();
  for (const Filling way : kFillings) {
    const auto start = std::chrono::steady_clock::now();
    const NamelessFile file;
    const bool is_filled = fill(way, file.descriptor(), bytes, threads);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (is_filled) least = std::min(least, elapsed.count());
  }
  return least;
}

}  // namespace hemstitch::cli
