// Restores one frame of Zstandard by several threads.
//
// A block says how long it is, so blocks are taken apart without decoding them, and what of its tables comes from
// earlier blocks is known from their headers (zstd_walk.hpp). Threads decode literals and sequences of groups of blocks
// (zstd_block_decoder.hpp). One thread makes content of what is decoded, block by block (zstd_copy.hpp). The calling thread takes
// input and passes on content. Of up to five threads it is also the one that makes content, and decodes where it would wait.
//
// Damage is never judged here. Where a block is damaged, or looks so, the reference restorer continues from there: it
// finds the damage itself. So the status, the place and the content before it are its.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "format/stream/piece_stream.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"
#include "format/zstd/stream/zstd_block_decoder.hpp"
#include "format/zstd/stream/zstd_copy.hpp"
#include "format/zstd/stream/zstd_walk.hpp"

namespace hemstitch {

struct ZstdParallelLimits {
  unsigned threads = 2;                              // including the calling one
  unsigned loans = 0;                                // how many pieces of content it may lend at once
  std::size_t groups = 5;                            // of blocks, in memory at once
  std::size_t group_bytes = std::size_t{256} << 10;  // of input: from there on a group is full
  std::size_t group_blocks = 16;                     // at most
  unsigned begin_groups = 8;                         // of one block each, before threads start
  std::size_t lent_bytes = std::size_t{512} << 10;   // how much is passed on at once, and lent

  // Of content that is made and not taken: one part is taken while the next one is made.
  std::size_t waiting_bytes() const { return 2 * lent_bytes; }
  std::size_t kept_bytes() const { return (loans + std::size_t{4}) * (lent_bytes + kZstdMostBlockBytes); }
  std::uint64_t memory_bytes(std::uint64_t window_bytes, std::uint64_t dictionary_bytes = 0) const;
};

// For a frame that states this window and, perhaps, its size. One thread if there is too little memory, input or content
// for more.
ZstdParallelLimits zstd_parallel_limits(const StreamMeans& means, std::uint64_t window_bytes,
                                        std::optional<std::uint64_t> content_bytes);

// What a decoder needs to begin between two blocks of a frame.
struct ZstdFrameStart {
  ZstdOrigins origins;                     // of the tables that the next block may use
  ZstdOffsets offsets;                     // the last three, none of them a name
  std::uint64_t frame_bytes = 0;           // of the content before
  std::uint64_t block_number = 1;          // of the next block
  std::span<const std::byte> window = {};  // the content before, as far back as the frame's window reaches
};

class ZstdParallelDecoder : public PieceStream {
 public:
  // `before`: what the frame has before its first block; its content must outlive the decoder.
  ZstdParallelDecoder(std::uint64_t window_bytes, const ZstdParallelLimits& limits,
                      const ZstdDictionary& before = {});
  // Continues a frame. `start` is used only while the decoder is made.
  ZstdParallelDecoder(std::uint64_t window_bytes, const ZstdParallelLimits& limits,
                      const ZstdFrameStart& start);
  ~ZstdParallelDecoder() override;
  ZstdParallelDecoder(const ZstdParallelDecoder&) = delete;
  ZstdParallelDecoder& operator=(const ZstdParallelDecoder&) = delete;

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  void lend_content() override { lends_ = true; }

  static std::uint64_t group_memory_bytes(const ZstdParallelLimits& limits);

  // How many blocks other threads decoded, for tests.
  std::uint64_t decoded_elsewhere();

 private:
  struct Group;

  std::size_t take(std::span<const std::byte> input);
  bool has_room();
  void add_block(const ZstdBlockHeader& header, std::span<const std::byte> bytes);
  void seal();
  bool take_content(bool waits);
  bool nothing_comes();
  bool is_made();
  void pass_on(StreamStep& step, std::span<std::byte> output);
  void lend(StreamStep& step);
  void begin_judging();
  void judge(StreamStep& step, std::span<const std::byte> input, std::span<std::byte> output);
  std::span<const std::byte> kept_from(std::uint64_t) const override { return {}; }

  void work();
  bool do_own_task(std::unique_lock<std::mutex>& lock);
  bool decode_next(std::unique_lock<std::mutex>& lock, ZstdBlockDecoder& decoder);
  Group* next_group();
  void decode(Group& group, ZstdBlockDecoder& decoder, std::unique_lock<std::mutex>& lock);
  bool may_make_content() const;
  void make_content(std::unique_lock<std::mutex>& lock);
  void tell();
  void call_maker();
  void stop();

  const std::uint64_t window_bytes_;
  const ZstdParallelLimits limits_;
  const std::size_t most_block_bytes_;
  const std::span<const std::byte> dictionary_;  // its content

  // Only for the calling thread.
  ZstdWalk walk_;
  std::vector<std::byte> pending_;  // a block of which not everything has come
  bool all_taken_ = false;          // the last block, or one that is damaged
  Group* filling_ = nullptr;
  std::uint64_t sealed_groups_ = 0;
  std::unique_ptr<ZstdBlockDecoder> own_decoder_;
  bool ended_ = false;
  struct Made {
    std::span<const std::byte> content;  // of one block, or of several
    std::shared_ptr<LargeBuffer> memory;
    std::size_t input_bytes = 0;
    bool last = false;
  };
  Made ready_;  // what is passed on next
  std::uint64_t blocks_taken_ = 0;
  bool lends_ = false;
  std::uint64_t passed_bytes_ = 0;
  // Once a block is damaged, and what is before it was passed on.
  std::unique_ptr<ZstdReferenceDecoder> judge_;
  std::vector<std::byte> judged_;  // what it has not taken

  // Only for the thread that makes content.
  ZstdContent content_;
  ZstdOrigins origins_;             // of the last block whose content was made
  std::uint64_t block_number_ = 1;  // of the one after
  std::size_t block_ = 0;           // that one, in the first group

  // Guarded by mutex_.
  unsigned started_threads_ = 0;
  bool has_maker_ = false;  // a thread makes content and does nothing else
  std::condition_variable content_may_come_;
  bool makes_content_ = false;  // a thread does
  bool is_damaged_ = false;     // the block whose content is to be made
  std::vector<Made> made_;      // not taken yet
  std::size_t made_bytes_ = 0;
  struct Loan {
    std::uint64_t begin = 0;  // in the content
    std::weak_ptr<const std::byte> owner;
  };
  std::deque<Loan> loans_;
  std::deque<std::unique_ptr<Group>> groups_;  // in their order, the one that is being filled last
  std::vector<std::unique_ptr<Group>> idle_groups_;
  std::uint64_t decoded_elsewhere_ = 0;
};

}  // namespace hemstitch
