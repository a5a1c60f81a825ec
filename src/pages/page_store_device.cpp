// Many pages per call on a device, by lanes (page_device.hpp): put_many_from_device(), get_many_to_device(), and get_many()
// if the device is to restore pages for the host.
//
//   put   threads take pieces of some megabytes. The device compresses a piece; then the thread that waited for it copies its
//         blocks into slots, while the device works on the pieces of other threads
//   get   all threads copy kept pages out of their slots into the staging memory of one piece, then of the next. The thread that
//         is last with a piece has the device begin to restore it. A call asks little of the driver this way, which
//         serves one thread at a time
//
// If the device fails, the processor does the pieces that it failed on.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device_failures.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "pages/page_calls.hpp"
#include "pages/page_counts.hpp"
#include "pages/page_device.hpp"
#include "pages/page_store.hpp"

namespace hemstitch {
namespace {

// The sizes of pieces of put_from(). The driver takes as long to begin a smaller one.
constexpr std::size_t kMostPutBytes = std::size_t{4} << 20, kLeastPutBytes = std::size_t{1} << 20;
// The same of get_to(), and how many there are at once, which bounds the memory that a call takes from the device.
constexpr std::size_t kMostGetBytes = std::size_t{8} << 20, kLeastGetBytes = std::size_t{2} << 20;
constexpr std::size_t kGetsAtOnce = 16;
// What a thread copies out of slots before it asks for room in the staging memory. It fits into the processor's caches.
constexpr std::size_t kRunBytes = std::size_t{128} << 10;

// Calls body(first, count) for pieces of a call, if possible at least one for each thread.
template <class Body>
void for_pieces_of_pages(const PageStore::Impl& impl, std::size_t count, const Body& body) {
  const unsigned threads = resolve_threads(impl.options.batch.threads);
  const std::size_t piece = std::clamp((count + threads - 1) / threads, kLeastPutBytes / impl.page_bytes(),
                                       kMostPutBytes / impl.page_bytes());
  const std::size_t pieces = (count + piece - 1) / piece;
  for_pieces(static_cast<unsigned>(std::min<std::size_t>(threads, pieces)), pieces, 1,
             [&](std::size_t i) { body(i * piece, std::min(piece, count - i * piece)); });
}

// Whether a device is to work on pages that are in its own memory.
bool device_works(const PageStore::Impl& impl, std::size_t count) {
  const std::string& backend = impl.options.batch.backend;
  return backend == "cuda" || (backend == "auto" && count >= kLeastPagesInDeviceMemory);
}

// False if the device failed, and the processor has to do the work.
bool tried(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (!is_device_failure(error)) throw;
    return false;
  }
}

// Pages that are restored together.
struct Piece {
  std::size_t first = 0, count = 0;
  bool on_device = false;  // false if the device failed, or is not to be asked
  std::once_flag opened;
  std::shared_ptr<PageLane> lane;
  std::span<std::byte> staging;
  std::atomic<std::uint32_t> used = 0;  // bytes of staging
  std::atomic<std::size_t> runs_left = 0;
  std::vector<StagedBlock> blocks;
  std::vector<std::uint32_t> checksums;  // as kept, if the store has them
  std::vector<char> counted;  // whether a page is counted as got; one byte each, since threads write them
  std::vector<Status> statuses;
};

// Gets up to kGetsAtOnce pieces.
class DeviceGet {
 public:
  DeviceGet(PageStore::Impl& store, PageDevice& device, bool on_device,
            std::span<const std::uint64_t> numbers, std::byte* pages, PageMemory memory)
      : store_(store),
        device_(device),
        on_device_(on_device),
        numbers_(numbers),
        pages_(pages),
        memory_(memory),
        bytes_(store.page_bytes()),
        run_pages_(std::max<std::size_t>(1, kRunBytes / bytes_)) {
    const std::size_t even = (numbers.size() + kGetsAtOnce - 1) / kGetsAtOnce;
    const std::size_t piece_pages =
        (std::max(even, kLeastGetBytes / bytes_) + run_pages_ - 1) / run_pages_ * run_pages_;
    piece_runs_ = piece_pages / run_pages_;
    pieces_ = std::vector<Piece>((numbers.size() + piece_pages - 1) / piece_pages);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      Piece& piece = pieces_[i];
      piece.first = i * piece_pages;
      piece.count = std::min(piece_pages, numbers.size() - piece.first);
      piece.on_device = on_device;
      piece.runs_left = (piece.count + run_pages_ - 1) / run_pages_;
      piece.blocks.resize(piece.count);
      piece.checksums.resize(store.options.checksums ? piece.count : 0);
      piece.counted.resize(piece.count);
      piece.statuses.resize(piece.count);
    }
  }

  // `first` is the place of the first number in the call. Returns how many pages there were.
  std::uint64_t run(Statuses& statuses, std::size_t first) {
    const std::size_t runs = on_device_ ? (numbers_.size() + run_pages_ - 1) / run_pages_ : 0;
    const unsigned threads = resolve_threads(store_.options.batch.threads);
    std::atomic<std::size_t> next = 0;
    const auto copy = [&](std::size_t) {
      std::vector<std::byte> room(run_pages_ * most_block_bytes(bytes_));
      for (std::size_t number = next++; number < runs; number = next++) copy_run(number, room);
    };
    const auto end = [&](std::size_t i) {
      Piece& piece = pieces_[i];
      if (piece.on_device) piece.on_device = tried([&] { end_on_device(piece); });
      if (!piece.on_device) restore_here(piece);
      for (std::size_t k = 0; k < piece.count; ++k) statuses.tell(first + piece.first + k, piece.statuses[k]);
    };
    if (threads == 1) {
      copy(0);
      for (std::size_t i = 0; i < pieces_.size(); ++i) end(i);
    } else {
      run_on_threads(threads, [&] {
        run_in_parallel(std::min<std::size_t>(threads, runs), 1, copy);
        run_in_parallel(pieces_.size(), 1, end);
      });
    }
    return present_;
  }

 private:
  // Copies the pages of a run into the staging memory of its piece.
  void copy_run(std::size_t number, std::span<std::byte> room) {
    Piece& piece = pieces_[number / piece_runs_];
    std::call_once(piece.opened, [&] {
      piece.on_device = tried([&] {
        piece.lane = device_.lane();
        piece.staging = piece.lane->staging(piece.count * most_block_bytes(bytes_));
      });
    });
    if (piece.on_device) {
      const std::size_t begin = number % piece_runs_ * run_pages_;
      const std::size_t end = std::min(begin + run_pages_, piece.count);
      // Further pages are prefetched as the ones before them are read.
      for (std::size_t k = begin; k < std::min<std::size_t>(begin + PageStore::Impl::kPagesAhead, end); ++k)
        store_.prefetch(numbers_[piece.first + k]);
      std::uint32_t used = 0;
      for (std::size_t k = begin; k < end; ++k) {
        const bool found = store_.read_kept(
            numbers_[piece.first + k], PageStore::Impl::Counted::kYes,
            [&](PageForm form, const std::byte* data, std::uint32_t checksum) {
              piece.blocks[k] = {used,
                                 write_as_block(form.kind, {data, form.bytes}, bytes_, room.data() + used)};
              if (!piece.checksums.empty()) piece.checksums[k] = checksum;
            });
        used += piece.blocks[k].bytes;
        piece.counted[k] = 1;
        if (found) present_.fetch_add(1, std::memory_order_relaxed);
      }
      const std::uint32_t at = piece.used.fetch_add(used, std::memory_order_relaxed);
      std::memcpy(piece.staging.data() + at, room.data(), used);
      for (std::size_t k = begin; k < end; ++k) piece.blocks[k].at += at;
    }
    if (piece.runs_left.fetch_sub(1, std::memory_order_acq_rel) == 1 && piece.on_device)
      piece.on_device = tried([&] {
        piece.lane->begin_restore(piece.blocks, bytes_, pages_ + piece.first * bytes_, memory_,
                                  store_.options.checksums);
      });
  }

  void end_on_device(Piece& piece) {
    std::vector<std::uint32_t> found(piece.checksums.size());
    piece.lane->end_restore(piece.statuses, found);
    for (std::size_t k = 0; k < found.size(); ++k)
      if (piece.statuses[k] == Status::kOk && found[k] != piece.checksums[k])
        piece.statuses[k] = Status::kBlockChecksumMismatch;
    for (std::size_t k = 0; k < piece.count; ++k)
      if (piece.statuses[k] != Status::kOk) store_.note_damage(numbers_[piece.first + k]);
  }

  // Has the processor restore a piece. A page that is counted already is not counted again.
  void restore_here(Piece& piece) {
    piece.lane.reset();  // the device may still write to the pages until then
    std::byte* const pages = pages_ + piece.first * bytes_;
    std::vector<std::byte> staged(memory_ == PageMemory::kDevice ? piece.count * bytes_ : 0);
    std::byte* const to = staged.empty() ? pages : staged.data();
    for (std::size_t k = 0; k < piece.count; ++k) {
      const auto counted =
          piece.counted[k] != 0 ? PageStore::Impl::Counted::kNo : PageStore::Impl::Counted::kYes;
      const std::span<std::byte> page(to + k * bytes_, bytes_);
      bool found = false;
      piece.statuses[k] = store_.get_one(numbers_[piece.first + k], page, found, counted);
      if (!found) std::ranges::fill(page, std::byte{0});
      if (found && piece.counted[k] == 0) present_.fetch_add(1, std::memory_order_relaxed);
    }
    if (!staged.empty()) device_.copy_to(pages, staged);
    if (on_device_) store_.fallback_pages.fetch_add(piece.count, std::memory_order_relaxed);
  }

  PageStore::Impl& store_;
  PageDevice& device_;
  bool on_device_;
  std::span<const std::uint64_t> numbers_;
  std::byte* pages_;
  PageMemory memory_;
  std::uint32_t bytes_;
  std::size_t run_pages_;
  std::size_t piece_runs_ = 0;
  std::vector<Piece> pieces_;
  std::atomic<std::uint64_t> present_ = 0;
};

}  // namespace

void PageStore::Impl::put_from(PageDevice& device, std::span<const std::uint64_t> numbers,
                               const std::byte* d_pages, std::span<Status> wanted_statuses) {
  check_many(*this, numbers, wanted_statuses.size());
  const std::uint32_t bytes = page_bytes();
  Statuses statuses(numbers, wanted_statuses);
  const std::vector<bool> superseded = superseded_pages(numbers);
  const bool on_device = device_works(*this, numbers.size());
  for_pieces_of_pages(*this, numbers.size(), [&](std::size_t first, std::size_t count) {
    const std::byte* const d_piece = d_pages + first * bytes;
    std::vector<StagedBlock> blocks(count);
    std::vector<std::uint32_t> checksums(options.checksums ? count : 0);
    std::vector<std::byte> pages;
    std::shared_ptr<PageLane> lane;
    std::span<const std::byte> staged;
    const bool compressed = on_device && tried([&] {
                              lane = device.lane();
                              staged = lane->compress(d_piece, bytes, options.batch.level, blocks, checksums);
                            });
    if (!compressed) {
      pages.resize(count * bytes);
      device.copy_from(pages, d_piece);
      if (on_device) fallback_pages.fetch_add(count, std::memory_order_relaxed);
    }
    const auto put_block = [&](std::size_t k) {
      const std::span<const std::byte> block = staged.subspan(blocks[k].at, blocks[k].bytes);
      PageForm form{block.size() == bytes ? PageKind::kRaw : PageKind::kCompressed, blocks[k].bytes};
      const std::byte* data = block.data();
      std::array<std::byte, kPageWordBytes> word;
      if (form.kind == PageKind::kCompressed && restores_same_filled(block, bytes, word)) {
        form = {PageKind::kSameFilled, kPageWordBytes};
        data = word.data();
      }
      return store(numbers[first + k], form, data, options.checksums ? checksums[k] : 0);
    };
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = first + k;
      if (is_superseded(superseded, i))
        statuses.tell(i, Status::kOk);
      else if (compressed)
        statuses.tell(i, put_block(k));
      else
        statuses.tell(i, put_one(numbers[i], std::span(pages).subspan(k * bytes, bytes)));
    }
  });
  statuses.throw_first(*this);
}

std::uint64_t PageStore::Impl::get_to(PageDevice& device, std::span<const std::uint64_t> numbers,
                                      std::byte* pages, PageMemory memory,
                                      std::span<Status> wanted_statuses) {
  check_many(*this, numbers, wanted_statuses.size());
  Statuses statuses(numbers, wanted_statuses);
  const bool on_device = memory == PageMemory::kHost || device_works(*this, numbers.size());
  const std::size_t most = kGetsAtOnce * kMostGetBytes / page_bytes();
  std::uint64_t present = 0;
  for (std::size_t first = 0; first < numbers.size(); first += most) {
    const auto part = numbers.subspan(first, std::min(most, numbers.size() - first));
    present +=
        DeviceGet(*this, device, on_device, part, pages + first * page_bytes(), memory).run(statuses, first);
  }
  statuses.throw_first(*this);
  return present;
}

namespace {

// Without pages there is no memory to ask about.
std::unique_ptr<PageDevice> device_of_pages(std::span<const std::uint64_t> numbers, const void* d_pages,
                                            CUstream_st* stream) {
  if (numbers.empty()) return nullptr;
  if (d_pages == nullptr) throw Error(Status::kInvalidOption, "d_pages is NULL");
  return page_device_of(d_pages, stream);
}

}  // namespace

void PageStore::put_many_from_device(std::span<const std::uint64_t> numbers, const void* d_pages,
                                     std::span<Status> statuses, CUstream_st* stream) {
  check_many(*impl_, numbers, statuses.size());
  if (const auto device = device_of_pages(numbers, d_pages, stream))
    impl_->put_from(*device, numbers, static_cast<const std::byte*>(d_pages), statuses);
}

std::uint64_t PageStore::get_many_to_device(std::span<const std::uint64_t> numbers, void* d_pages,
                                            std::span<Status> statuses, CUstream_st* stream) const {
  check_many(*impl_, numbers, statuses.size());
  const auto device = device_of_pages(numbers, d_pages, stream);
  return device ? impl_->get_to(*device, numbers, static_cast<std::byte*>(d_pages), PageMemory::kDevice,
                                statuses)
                : 0;
}

}  // namespace hemstitch
