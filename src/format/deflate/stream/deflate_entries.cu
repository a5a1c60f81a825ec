// From entries to symbols: for each entry, a warp restores from there on until it reaches the beginning of another entry.
//
// The results are symbols of 16 bits: bytes, and markers for bytes before the entry. Symbols are in pages of 32,768, the size of a
// window, so a source is in the page that is being written or in the one before it. Page 0, which holds the markers, counts as the
// page before an entry's first one. So no check whether a source is before the entry is needed.
//
// Between blocks the next one's header is looked up among the starts. If it is one of them, the entry ends there, linked to that
// start's entry. Blocks that are not among the starts, such as small stored ones, are restored by the same entry. In the middle of
// a block the entry ends at the first token at or behind the place where the next entry enters the block. The next entry must have
// begun with the same token. Each entry that enters a block publishes its first token, its claim, as soon as it knows it. If the
// claim differs, this entry goes on up to the next place.
//
// An entry in the middle of a block makes the tables of the block's header, decodes a window before its place, from any bit, and
// claims the first token at or after the place: codes synchronise. For codes that do not, there is an entry for each of nine bits.
// Eight of these lead nowhere, so at first all of them only count symbols and write none. Those that the stream goes through are
// restored again.
#include "format/deflate/restore/deflate_emission.cuh"
#include "format/deflate/stream/deflate_member.cuh"
#include "format/deflate/stream/deflate_stream_stages.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWindowBits = 32 * kDeflateWindowWords;
constexpr unsigned kMostTokenBits = 48;
constexpr std::uint32_t kStoredPart = 8192;  // symbols that are copied between checks of the room
static_assert(8 * kDeflateLeastSpacing * 2 / 3 > kWindowBits + kMostTokenBits,
              "a window crosses one place at most");
static_assert(32 * kDeflateMaxMatchBytes <= kDeflatePageSymbols, "32 tokens fill one page more at most");

struct EntryMemory {
  DeflateTables tables;
  DeflateWindow window;
};

// Like DeflateByteOutput, for symbols in pages. Indices wrap around: negative ones count from the end of the page before.
struct SymbolOutput {
  std::uint16_t* d_symbols;
  std::uint32_t before, here, behind;  // where place 0 of `here` would be if it were in that page
  std::uint32_t at;                    // in `here`

  __device__ std::uint32_t load(std::int32_t place) const {
    const auto from = static_cast<std::int32_t>(at) + place;
    return d_symbols[(from < 0                                                ? before
                      : from < static_cast<std::int32_t>(kDeflatePageSymbols) ? here
                                                                              : behind) +
                     static_cast<std::uint32_t>(from)];
  }
  __device__ void store(std::uint32_t place, std::uint32_t value) const {
    const std::uint32_t to = at + place;
    d_symbols[(to < kDeflatePageSymbols ? here : behind) + to] = static_cast<std::uint16_t>(value);
  }
};

// A warp and its entry.
class EntryWarp {
 public:
  __device__ EntryWarp(const DeflatePieceWork& work, EntryMemory& memory, std::uint32_t index,
                       std::uint32_t round, unsigned lane)
      : work_(work),
        sh_(memory),
        index_(index),
        round_(round),
        lane_(lane),
        kind_(work.d_entries[index].kind),
        counts_(round == 0 && kind_ == DeflateEntryKind::kPhase),
        start_(work.d_entries[index].start) {}

  __device__ void run() {
    const DeflateStreamEntry entry = work_.d_entries[index_];
    const bool enters = kind_ >= DeflateEntryKind::kMiddle;
    bit_ = enters ? entry.header : entry.bit;
    last_bit_ = entry.bit + 8 * work_.limits.entry_bytes;
    history_ = kind_ != DeflateEntryKind::kKnown ? kDeflateWindowBytes
               : entry.bit == work_.begin_bit    ? work_.window_bytes
                                                 : 0;
    if (kind_ == DeflateEntryKind::kBlock || kind_ == DeflateEntryKind::kKnown) note_sound();
    restore(entry);
    if (enters && claim_ == kDeflateNoBit) claim(kDeflateNoBit);
    if (lane_ == 0)
      work_.d_results[index_] = {bit_,         sound_bit_, member_begin_, written_, sound_symbols_, place_,
                                 sound_place_, next_,      end_,          round_,   counts_};
  }

 private:
  __device__ bool ends(DeflateEntryEnd end) {
    end_ = end;
    return false;
  }
  __device__ void note_sound() {
    sound_bit_ = bit_;
    sound_symbols_ = written_;
    sound_place_ = place_;
  }
  __device__ void claim(std::uint64_t bit) {
    claim_ = bit;
    if (lane_ == 0) *static_cast<volatile std::uint64_t*>(work_.d_claims + index_) = bit;
  }

  __device__ void restore(const DeflateStreamEntry& entry) {
    const DeflateStream& stream = work_.stream;
    bool body = kind_ == DeflateEntryKind::kStored, enters = kind_ >= DeflateEntryKind::kMiddle;
    for (std::uint32_t blocks = 0;; ++blocks) {
      bool last = false;
      auto type = DeflateBlockType::kStored;
      if (body) {
        body = false;
      } else if (kind_ == DeflateEntryKind::kFixed && enters) {
        type = DeflateBlockType::kFixed;
      } else {
        if (bit_ + 3 > stream.end_bit) {
          ends(DeflateEntryEnd::kInput);
          return;
        }
        const std::uint32_t head = stream.bits(bit_);
        last = (head & 1) != 0;
        type = static_cast<DeflateBlockType>(head >> 1 & 3);
        if (blocks != 0 && !last && is_linked(type)) return;
        if (blocks == work_.limits.entry_blocks || bit_ > last_bit_) {
          ends(DeflateEntryEnd::kGivenUp);
          return;
        }
        bit_ += 3;
      }
      if (type == DeflateBlockType::kReserved ||
          (enters && kind_ != DeflateEntryKind::kFixed && type != DeflateBlockType::kDynamic)) {
        ends(DeflateEntryEnd::kUnsound);
        return;
      }
      if (type == DeflateBlockType::kStored) {
        if (!restore_stored()) return;
      } else {
        if (!make_block_tables(stream, type, bit_, sh_.window.table_work, sh_.tables, lane_)) {
          ends(bit_ + kMostHeaderBits > stream.end_bit ? DeflateEntryEnd::kInput : DeflateEntryEnd::kUnsound);
          return;
        }
        __syncwarp();
        next_ = kDeflateNone;
        limit_ = kDeflateNoBit;
        // An entry into a fixed block assumes that the block is not the last one.
        if (type == DeflateBlockType::kFixed) {
          if (!last) meet_fixed_place(enters ? entry.bit : bit_);
        } else if (blocks == 0) {
          meet_place(kind_ == DeflateEntryKind::kPhase ? index_ - entry.phase + kDeflateEntryPhases
                                                       : index_ + 1);
        }
        if (enters && !enter(entry)) return;
        enters = false;
        if (limit_ <= bit_) limit_ = kDeflateNoBit;
        if (!restore_block()) return;
      }
      note_sound();
      if (last) {
        end_stream();
        return;
      }
    }
  }

  // Does an entry begin with the block of this type at bit_?
  __device__ bool is_linked(DeflateBlockType type) {
    if (type != DeflateBlockType::kStored && type != DeflateBlockType::kDynamic) return false;
    const std::uint64_t key = type == DeflateBlockType::kDynamic
                                  ? deflate_key(bit_, DeflateStartKind::kBlock)
                                  : deflate_key((bit_ + 3 + 7) / 8 * 8, DeflateStartKind::kStored);
    next_ = entry_of(key);
    if (next_ == kDeflateNone) return false;
    end_ = DeflateEntryEnd::kLinked;
    return true;
  }
  __device__ std::uint32_t entry_of(std::uint64_t key) const {
    const std::uint32_t start = first_start_from(key);
    if (start == work_.start_count || work_.d_keys[start] != key) return kDeflateNone;
    // Where two starts are at one bit, the entry is the second one's.
    const std::uint32_t entry = work_.d_first_entries[start];
    const bool exists =
        entry < work_.d_first_entries[start + 1] ||
        (start + 1 < work_.start_count && deflate_key_bit(work_.d_keys[start + 1]) == deflate_key_bit(key) &&
         entry < work_.d_first_entries[start + 2]);
    return exists && entry < work_.entry_count ? entry : kDeflateNone;
  }
  // The first start after this entry's own. Usually it is the next one.
  __device__ std::uint32_t first_start_from(std::uint64_t key) const {
    const std::uint32_t begin = start_ + 1;
    if (begin >= work_.start_count || work_.d_keys[begin] >= key) return min(begin, work_.start_count);
    return begin + first_key_from(work_.d_keys + begin, work_.start_count - begin, key);
  }

  // The stream's last block is restored. Is another member behind it?
  __device__ void end_stream() {
    end_ = DeflateEntryEnd::kStream;
    next_ = kDeflateNone;
    if (!work_.members) return;
    constexpr unsigned kTrailerBits = 64;
    std::uint64_t begin = 0;
    if (lane_ == 0) begin = behind_member_header(work_.stream, (bit_ + 7) / 8 * 8 + kTrailerBits);
    member_begin_ = __shfl_sync(kAllLanes, begin, 0);
    if (member_begin_ != 0) next_ = entry_of(deflate_key(member_begin_, DeflateStartKind::kKnown));
  }

  // Sets the place where entry `next` enters this block.
  __device__ void meet_place(std::uint32_t next) {
    if (next >= work_.entry_count) return;
    const DeflateStreamEntry entry = work_.d_entries[next];
    if (entry.start != start_ ||
        (entry.kind != DeflateEntryKind::kMiddle && entry.kind != DeflateEntryKind::kPhase))
      return;
    next_ = next;
    limit_ = entry.bit;
  }
  // For a block with the fixed code: the first such place after `bit`.
  __device__ void meet_fixed_place(std::uint64_t bit) {
    const std::uint32_t start = first_start_from(deflate_key(bit + 1, DeflateStartKind::kBlock)) + lane_;
    const bool serves = start < work_.start_count &&
                        deflate_key_kind(work_.d_keys[start]) == DeflateStartKind::kFixed &&
                        work_.d_first_entries[start] < work_.entry_count &&
                        work_.d_first_entries[start] < work_.d_first_entries[start + 1];
    const unsigned serving = __ballot_sync(kAllLanes, serves);
    if (serving == 0) return;
    const int lane = __ffs(static_cast<int>(serving)) - 1;
    next_ = __shfl_sync(kAllLanes, serves ? work_.d_first_entries[start] : 0, lane);
    limit_ = __shfl_sync(kAllLanes, serves ? deflate_key_bit(work_.d_keys[start]) : 0, lane);
  }
  // Goes on to the place after that one, whose claim was not right.
  __device__ void meet_next_place() {
    const std::uint32_t passed = next_;
    const std::uint64_t bit = limit_;
    const DeflateEntryKind kind = work_.d_entries[passed].kind;
    next_ = kDeflateNone;
    limit_ = kDeflateNoBit;
    if (kind == DeflateEntryKind::kFixed)
      meet_fixed_place(bit);
    else
      meet_place(kind == DeflateEntryKind::kPhase ? passed + kDeflateEntryPhases : passed + 1);
  }

  // Moves to the entry's first token, which it claims.
  __device__ bool enter(const DeflateStreamEntry& entry) {
    const std::uint64_t forced = work_.d_forced[index_];
    if (kind_ == DeflateEntryKind::kPhase || forced != 0) {
      if (entry.bit < bit_) return ends(DeflateEntryEnd::kUnsound);
      bit_ = forced != 0 ? forced : entry.bit;
      claim(bit_);
      return true;
    }
    if (kind_ == DeflateEntryKind::kMiddle && entry.bit < bit_ + kWindowBits)
      return ends(DeflateEntryEnd::kUnsound);
    bit_ = entry.bit - kWindowBits;
    const DeflateSegment segment = settle();
    const unsigned exit = __shfl_sync(kAllLanes, segment.exit, 31);
    __syncwarp();
    if ((exit & kDeflateStopped) != 0 || bit_ + exit > work_.stream.end_bit)
      return ends(DeflateEntryEnd::kUnsound);
    bit_ += exit;
    claim(bit_);
    return true;
  }

  // Loads the window from bit_ on and makes its segments agree.
  __device__ DeflateSegment settle() {
    const auto first_bit = static_cast<unsigned>(bit_ % 32);
    load_window<32>(work_.stream, bit_ / 32, sh_.window, lane_);
    __syncwarp();
    DeflateSegment segment =
        open_segment(sh_.window, sh_.tables, lane_, first_bit, work_.stream.end_bit - bit_ / 32 * 32);
    settle_segments(sh_.window, sh_.tables, first_bit, segment, kDeflatePlainRounds, kDeflateMostRounds,
                    lane_);
    return segment;
  }

  // Restores the tokens of a block whose tables are made, up to its end or the next place.
  __device__ bool restore_block() {
    while (true) {
      if (bit_ >= work_.stream.end_bit) return ends(DeflateEntryEnd::kInput);
      if (bit_ > last_bit_) return ends(DeflateEntryEnd::kGivenUp);
      const std::uint64_t begin = bit_ / 32 * 32;
      DeflateListed listed = list_tokens(sh_.window, settle(), lane_);
      const bool is_met = limit_ < begin + kWindowBits + kMostTokenBits && meets(begin, listed);
      std::uint64_t behind = begin + listed.exit;
      DeflateWindowEnd end{0, true, false};
      if (!is_met) {
        end = window_end(sh_.window, sh_.tables, listed.exit);
        behind = begin + end.bit;
      }
      if (behind > work_.stream.end_bit) return ends(DeflateEntryEnd::kInput);
      if (!end.is_sound) return ends(DeflateEntryEnd::kUnsound);
      if (!restore_listed(listed.count)) return false;
      bit_ = behind;
      if (is_met) return ends(DeflateEntryEnd::kInBlock);
      if (end.ends_block) return true;
    }
  }

  // Does the next entry take over within the listed tokens? Then only the tokens before it stay listed, and next_ is that entry.
  __device__ bool meets(std::uint64_t begin, DeflateListed& listed) {
    const auto limit = static_cast<unsigned>(limit_ - begin);
    unsigned before = 0;
    for (unsigned i = lane_; i < listed.count; i += 32) before += sh_.window.tokens[i] < limit ? 1 : 0;
    before = sum_over_warp(before);
    const unsigned stop = before < listed.count ? sh_.window.tokens[before] : listed.exit & ~kDeflateStopped;
    if (stop < limit) return false;
    const std::uint64_t bit = begin + stop;
    if (work_.d_entries[next_].kind == DeflateEntryKind::kPhase) {
      if (stop - limit < kDeflateEntryPhases && next_ + (stop - limit) < work_.entry_count) {
        next_ += stop - limit;
        listed = {before, stop};
        return true;
      }
    } else {
      std::uint64_t claimed = 0;
      if (lane_ == 0) claimed = *static_cast<const volatile std::uint64_t*>(work_.d_claims + next_);
      claimed = __shfl_sync(kAllLanes, claimed, 0);
      if (claimed == 0 || claimed == bit) {
        listed = {before, stop};
        return true;
      }
    }
    meet_next_place();
    return false;
  }

  // Takes this many consecutive parts and returns the first one's number; kDeflateNone if there are not enough.
  __device__ std::uint32_t take_parts(std::uint32_t parts) {
    std::uint32_t first = 0;
    if (lane_ == 0) {
      first = atomicAdd(&work_.d_status->parts, parts);
      if (first + parts <= work_.limits.pages * kDeflatePageParts)
        work_.d_owners[first] = {
            index_, written_ / kDeflatePageSymbols + (room_ == kDeflatePageSymbols ? 1 : 0), round_};
      else
        first = kDeflateNone;
    }
    return __shfl_sync(kAllLanes, first, 0);
  }
  // Makes room for `symbols` more symbols. False if no memory is left.
  __device__ bool make_room(std::uint32_t symbols) {
    if (counts_) return true;
    while (written_ % kDeflatePageSymbols + symbols > room_) {
      const bool begins_short = written_ == 0 && room_ == 0 && symbols <= kDeflatePartSymbols;
      const std::uint32_t page = take_parts(begins_short ? 1 : kDeflatePageParts);
      if (page == kDeflateNone) return ends(DeflateEntryEnd::kMemory);
      if (room_ == kDeflatePageSymbols) {
        behind_ = page;
        room_ += kDeflatePageSymbols;
        continue;
      }
      if (room_ == kDeflatePartSymbols) move_to(page);
      place_.here = page;
      room_ = begins_short ? kDeflatePartSymbols : kDeflatePageSymbols;
    }
    return true;
  }
  // Moves the symbols of the first part to a whole page.
  __device__ void move_to(std::uint32_t page) {
    const std::uint16_t* d_from = work_.d_symbols + std::size_t{place_.here} * kDeflatePartSymbols;
    std::uint16_t* d_to = work_.d_symbols + std::size_t{page} * kDeflatePartSymbols;
    for (std::uint32_t i = lane_; i < written_; i += 32) d_to[i] = d_from[i];
    if (lane_ == 0) work_.d_owners[place_.here].entry = kDeflateNone;
    if (sound_place_.here == place_.here) sound_place_.here = page;
    __syncwarp();
  }
  __device__ SymbolOutput output() const {
    return {work_.d_symbols, place_.before * kDeflatePartSymbols + kDeflatePageSymbols,
            place_.here * kDeflatePartSymbols, behind_ * kDeflatePartSymbols - kDeflatePageSymbols,
            written_ % kDeflatePageSymbols};
  }
  __device__ void advance(std::uint32_t symbols) {
    const std::uint32_t at = written_ % kDeflatePageSymbols + symbols;
    written_ += symbols;
    if (at < kDeflatePageSymbols || counts_) return;
    place_ = {place_.here, behind_};
    room_ -= kDeflatePageSymbols;
  }

  __device__ bool restore_stored() {
    const DeflateStream& stream = work_.stream;
    bit_ = (bit_ + 7) / 8 * 8;
    const std::uint32_t sizes = stream.bits(bit_);
    std::uint32_t left = sizes & 0xFFFF;
    if (bit_ + 32 > stream.end_bit) return ends(DeflateEntryEnd::kInput);
    if (left != (~sizes >> 16)) return ends(DeflateEntryEnd::kUnsound);
    bit_ += 32;
    if (bit_ + 8 * std::uint64_t{left} > stream.end_bit) return ends(DeflateEntryEnd::kInput);
    while (left > 0) {
      const std::uint32_t part = min(left, kStoredPart);
      if (!make_room(part)) return false;
      const SymbolOutput to = output();
      const std::uint8_t* d_from = stream.byte_at(bit_);
      if (!counts_) {
#pragma unroll 4
        for (std::uint32_t i = lane_; i < part; i += 32) to.store(i, d_from[i]);
      }
      advance(part);
      bit_ += 8 * std::uint64_t{part};
      left -= part;
    }
    __syncwarp();
    return true;
  }

  __device__ bool restore_listed(unsigned count) {
    for (unsigned first = 0; first < count; first += 32) {
      DeflateTokenBytes token;
      if (first + lane_ < count) token = read_token(sh_.window, sh_.tables, sh_.window.tokens[first + lane_]);
      const std::uint32_t up_to_lane = sum_up_to_lane(token.bytes, lane_);
      const DeflatePlace place{up_to_lane - token.bytes, __shfl_sync(kAllLanes, up_to_lane, 31)};
      const bool too_far = (token.info & kDeflateMatch) != 0 &&
                           (token.info & ~kDeflateMatch) > written_ + place.begin + history_;
      if (__any_sync(kAllLanes, too_far)) return ends(DeflateEntryEnd::kUnsound);
      if (counts_) {
        advance(place.total);
        continue;
      }
      if (!make_room(place.total)) return false;
      const SymbolOutput to = output();
      const std::uint32_t info = __shfl_sync(kAllLanes, token.info, 0);
      const std::uint32_t period = info & ~kDeflateMatch;
      if (__all_sync(kAllLanes, token.info == info && token.bytes != 0) && (info & kDeflateMatch) != 0 &&
          period <= 32 && 32 % period == 0) {
        // The whole match repeats the last symbols, so each lane's value never changes.
        const std::uint32_t value =
            to.load(static_cast<std::int32_t>(lane_ % period) - static_cast<std::int32_t>(period));
        __syncwarp();
#pragma unroll 4
        for (std::uint32_t i = lane_; i < place.total; i += 32) to.store(i, value);
        __syncwarp();
      } else {
        write_tokens(token, place, to, lane_);
      }
      advance(place.total);
    }
    __syncwarp();
    return true;
  }

  static constexpr unsigned kMostHeaderBits = 14 + 3 * 19 + 14 * 316;

  const DeflatePieceWork& work_;
  EntryMemory& sh_;
  const std::uint32_t index_, round_;
  const unsigned lane_;
  const DeflateEntryKind kind_;
  const bool counts_;  // only counts symbols, and writes none
  const std::uint32_t start_;
  std::uint64_t bit_ = 0, last_bit_ = 0, limit_ = kDeflateNoBit, claim_ = kDeflateNoBit,
                sound_bit_ = kDeflateNoBit, member_begin_ = 0;
  std::uint32_t history_ = 0, written_ = 0, sound_symbols_ = 0, next_ = kDeflateNone;
  std::uint32_t room_ = 0, behind_ = 0;  // symbols that fit into the pages from `here` on; the page after it
  DeflatePagePlace place_{0, 0}, sound_place_{0, 0};
  DeflateEntryEnd end_ = DeflateEntryEnd::kUnsound;
};

// Restores entries to symbols.
//
// Mapping: a warp an entry, a thread block. Shared memory: 7 KB. Synchronisation only inside warps. Claims are read while others
// write them; what is read decides only how far an entry goes. Work: linear in bits read and symbols written, times 32 where codes
// do not synchronise and guesses fail; bounded for each entry. The launch bounds state twice as many threads and half as many
// thread blocks: only the registers that this leaves matter, and no device before compute capability 8.0 holds more than 16 thread
// blocks.
__global__ void __launch_bounds__(64, kDeflateEntryResidency / 2)
    restore_entries(const __grid_constant__ DeflatePieceWork work, std::uint32_t round,
                    const std::uint32_t* d_listed) {
  __shared__ EntryMemory sh_memory;
  const std::uint32_t index = d_listed == nullptr ? blockIdx.x : d_listed[blockIdx.x];
  const unsigned lane = threadIdx.x;
  if (lane == 0) trace_mark(kTraceRestoreEntry, index);
  EntryWarp(work, sh_memory, index, round, lane).run();
}

// Fills page 0.
__global__ void __launch_bounds__(256) fill_marker_page(const DeflatePieceWork work) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  work.d_symbols[i] = static_cast<std::uint16_t>(kDeflateMarker | i);
}

constexpr KernelBudget kEntriesBudget("deflate_stream.restore_entries", "restore_entries",
                                      {.threads = 32, .registers = 72, .shared_bytes = sizeof(EntryMemory)});
constexpr KernelBudget kMarkerBudget("deflate_stream.fill_marker_page", "fill_marker_page",
                                     {.threads = 256, .registers = 32});
const KernelRegistration kEntriesRegistration(kEntriesBudget, restore_entries);
const KernelRegistration kMarkerRegistration(kMarkerBudget, fill_marker_page);

}  // namespace

void restore_deflate_entries(const DeflatePieceWork& work, std::uint32_t round, std::uint32_t repair_count,
                             cudaStream_t stream) {
  if (round == 0)
    launch({.kernel = kMarkerBudget, .grid = kDeflatePageSymbols / 256, .stream = stream}, fill_marker_page,
           work);
  launch({.kernel = kEntriesBudget, .grid = round == 0 ? work.entry_count : repair_count, .stream = stream},
         restore_entries, work, round, round == 0 ? nullptr : work.d_repairs);
}

}  // namespace hemstitch::cuda
