// The marks that the LZ4, DEFLATE, Zstandard, search, gather, scatter and scan kernels leave in a kernel trace. Their
// sources are compiled into this program with HEMSTITCH_KERNEL_TRACE, and replace the library's, which have
// no marks.
#include <zstd.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/deflate_batch_device.hpp"
#include "compact/gather/gather_cuda.hpp"
#include "compact/pieces/copy_pieces_tuning.hpp"
#include "compact/scatter/scatter_cuda.hpp"
#include "compact/shuffle/shuffle_cuda.hpp"
#include "compact/shuffle/shuffle_tuning.hpp"
#include "cuda_test.hpp"
#include "deflate_prices.hpp"
#include "finder_cases.hpp"
#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/compress/parse/deflate_parse_cuda.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/deflate/restore/deflate_restore_ways_cuda.hpp"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/compress/lz4_encode_tuning.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "format/lz4/pages/lz4_pages_cuda.hpp"
#include "format/lz4/restore/lz4_restore_ways_cuda.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gzip_members.hpp"
#include "lz4_batch.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/lazy_scan/lazy_scan_cuda.hpp"
#include "match/near_three/near_three_cuda.hpp"
#include "restore_batch.hpp"
#include "search/search_cuda.hpp"
#include "search/search_tuning.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using testing::FinderCase;

class KernelMarksTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    // The device must come first: in a build that traces everything, it has a trace of its own, and the
    // newest trace gets the marks.
    cuda::open_device({});
    stream_.emplace();
    trace_.emplace(0, 10'000);
  }
  const cuda::Stream& own_stream() const { return *stream_; }
  cudaStream_t stream() const { return stream_->get(); }

  // Those of `markers` that were left, each with its values once, in order: "1007:0 1007:1".
  std::string marks(std::initializer_list<cuda::TraceMarker> markers) const {
    stream_->synchronize();
    std::set<std::pair<std::uint32_t, std::uint32_t>> left;
    for (const cuda::TraceRecord& record : trace_->records())
      if (std::find(markers.begin(), markers.end(), record.marker) != markers.end())
        left.insert({record.marker, record.value});
    std::string text;
    for (const auto& [marker, value] : left)
      text += (text.empty() ? "" : " ") + std::to_string(marker) + ":" + std::to_string(value);
    return text;
  }

  template <class T>
  cuda::DeviceBuffer<T> on_device(const std::vector<T>& values) const {
    cuda::DeviceBuffer<T> buffer(values.size(), stream());
    buffer.upload(values);
    stream_->synchronize();
    return buffer;
  }

  void compress(const std::vector<FinderCase>& cases, int level) const {
    const testing::FinderBatch batch(cases, *stream_);
    const Lz4Level parameters = lz4_level(level, batch.blocks().max_block_bytes);
    std::vector<std::size_t> rooms;
    for (const FinderCase& one : cases) rooms.push_back(cuda::max_lz4_block_bytes(one.data.size()));
    const testing::OutputRooms outputs(rooms, stream());
    const testing::Scratch scratch(cuda::compress_lz4_cuda_scratch_bytes(batch.blocks(), parameters),
                                   stream());
    cuda::compress_lz4_cuda(batch.blocks(), parameters, outputs.output(), scratch.get(), scratch.bytes(),
                            stream());
    stream_->synchronize();
  }

  // Three groups of at most 128 positions: one block has one group, the other has two.
  template <class Find>
  void find(std::size_t (&scratch_bytes)(const DeviceBlocks&, const FinderParameters&),
            const Find& find) const {
    const testing::FinderBatch batch(
        {{"one", testing::wordy_bytes(100), 0}, {"two", testing::wordy_bytes(200), 0}}, *stream_);
    const FinderParameters parameters{.window_size = 64};
    // Aligned to 4 bytes, as finders require.
    const cuda::DeviceBuffer<std::byte> scratch(scratch_bytes(batch.blocks(), parameters), stream());
    const cuda::DeviceBuffer<MatchRecord> d_records(batch.blocks().total_block_bytes, stream());
    find(batch.blocks(), parameters, d_records.get(), scratch.get(), scratch.bytes(), stream());
    stream_->synchronize();
  }

  // Restores each of `blocks` in a way that is passed the batch.
  template <class Way>
  void restore(const std::vector<Bytes>& blocks, std::size_t capacity, const Way& way) const {
    Bytes all;
    std::vector<std::size_t> begins, sizes;
    for (const Bytes& block : blocks) {
      begins.push_back(all.size());
      sizes.push_back(block.size());
      all.insert(all.end(), block.begin(), block.end());
    }
    const cuda::DeviceBuffer<std::byte> d_all = on_device(all);
    std::vector<const std::byte*> addresses;
    for (const std::size_t begin : begins) addresses.push_back(d_all.get() + begin);
    const auto d_blocks = on_device(addresses);
    const auto d_sizes = on_device(sizes);
    const testing::OutputRooms outputs(std::vector<std::size_t>(blocks.size(), capacity), stream());
    cuda::DeviceRestore batch;
    batch.d_blocks = d_blocks.get();
    batch.d_block_bytes = d_sizes.get();
    batch.d_outputs = outputs.output().d_outputs;
    batch.d_capacities = outputs.output().d_capacities;
    batch.d_output_bytes = outputs.output().d_output_bytes;
    batch.d_statuses = outputs.output().d_statuses;
    batch.count = blocks.size();
    batch.max_capacity = capacity;
    batch.max_block_bytes = *std::max_element(sizes.begin(), sizes.end());
    way(batch);
    for (const hemstitch_status status : outputs.result().statuses) EXPECT_EQ(status, HEMSTITCH_OK);
  }

  // Two streams with a letter each, and a way to restore them.
  static std::vector<Bytes> two_letters() {
    const Bytes letter{std::byte{0x4B}, std::byte{0x04}, std::byte{0x00}};
    return {letter, letter};
  }
  auto deflate_way(cuda::DeflateWay way) const {
    return [this, way](const cuda::DeviceRestore& batch) {
      const cuda::DeviceBuffer<std::byte> scratch(cuda::restore_deflate_cuda_scratch_bytes(batch), stream());
      cuda::restore_deflate_cuda(way, batch, scratch.get(), scratch.bytes(), stream());
    };
  }

  // One long stream, whole.
  void restore_piece(const Bytes& data, std::size_t content_bytes) const {
    const auto d_data = on_device(data);
    const cuda::DeviceBuffer<std::byte> d_output(content_bytes, stream());
    const auto limits = cuda::deflate_piece_limits(data.size(), content_bytes);
    const testing::Scratch scratch(cuda::restore_deflate_piece_cuda_scratch_bytes(limits), stream());
    cuda::DeflatePieceInput piece;
    piece.d_bytes = d_data.get();
    piece.bytes = data.size();
    const auto result = cuda::restore_deflate_piece_cuda(piece, limits, d_output.get(), content_bytes,
                                                         scratch.get(), scratch.bytes(), stream());
    EXPECT_EQ(result.content_bytes, content_bytes);
    EXPECT_TRUE(result.ended);
  }

  // 2000 literals and a match of four, which take 2011 bytes, then five literals.
  static constexpr std::uint32_t kFirstSequenceBytes = 2011, kTwoSequencesRestored = 2009;
  static Bytes two_sequences() {
    Bytes block{std::byte{0xF0}};
    block.insert(block.end(), 7, std::byte{255});
    block.push_back(std::byte{200});  // 15 + 7 * 255 + 200
    block.insert(block.end(), 2000, std::byte{'a'});
    block.push_back(std::byte{1});
    block.push_back(std::byte{0});
    block.push_back(std::byte{0x50});
    block.insert(block.end(), 5, std::byte{'b'});
    return block;
  }

 private:
  std::optional<cuda::Stream> stream_;
  std::optional<cuda::KernelTrace> trace_;
};

TEST_F(KernelMarksTest, GroupsOfBruteForce) {
  find(cuda::find_brute_force_cuda_scratch_bytes, cuda::find_brute_force_cuda);
  EXPECT_EQ(marks({cuda::kTraceScanGroup}), "1017:0 1017:1 1017:2");
}

TEST_F(KernelMarksTest, GroupsOfLazyScan) {
  find(cuda::find_lazy_scan_cuda_scratch_bytes, cuda::find_lazy_scan_cuda);
  EXPECT_EQ(marks({cuda::kTraceScanGroup}), "1017:0 1017:1 1017:2");
}

TEST_F(KernelMarksTest, SegmentsAndTilesOfNearThree) {
  const testing::FinderBatch batch(
      {{"one", testing::wordy_bytes(100), 0}, {"two", testing::wordy_bytes(5000), 0}}, own_stream());
  const NearThreeParameters parameters{};
  // Aligned to 4 bytes, as finders and parses require.
  const cuda::DeviceBuffer<std::byte> scratch(
      cuda::find_near_three_cuda_scratch_bytes(batch.blocks(), parameters), stream());
  const cuda::DeviceBuffer<std::uint16_t> d_near_offsets(batch.blocks().total_block_bytes, stream());
  cuda::find_near_three_cuda(batch.blocks(), parameters, d_near_offsets.get(), scratch.get(), scratch.bytes(),
                             stream());
  EXPECT_EQ(marks({cuda::kTraceBuildChains, cuda::kTraceFindTile}), "1001:0 1001:1 1003:0 1003:4096");
}

// A chunk of 2049 bytes has two parts and three segments, and a warp solves it together with seven others of
// its size.
TEST_F(KernelMarksTest, ChunksOfDeflateThatAreParsed) {
  const testing::FinderBatch batch({{"one", testing::wordy_bytes(2049), 0}}, own_stream());
  const DeviceBlocks& chunks = batch.blocks();
  const auto d_records = on_device(std::vector<MatchRecord>(chunks.total_block_bytes, 0));
  const auto d_near_offsets = on_device(std::vector<std::uint16_t>(chunks.total_block_bytes, 0));
  const auto d_costs = on_device<DeflateDeviceCosts>({testing::random_costs(1)});
  const cuda::DeviceBuffer<Sequence> d_sequences(cuda::device_sequence_capacity(chunks, deflate_block_plan()),
                                                 stream());
  const cuda::DeviceBuffer<std::uint32_t> d_counts(1, stream());
  const cuda::DeviceBuffer<std::uint64_t> d_total(1, stream());
  const cuda::DeviceBuffer<std::byte> scratch(cuda::parse_deflate_cuda_scratch_bytes(chunks), stream());
  cuda::parse_deflate_cuda(chunks, d_records.get(), d_near_offsets.get(), d_costs.get(), 1,
                           {d_sequences.get(), d_counts.get(), d_total.get()}, scratch.get(), scratch.bytes(),
                           stream());
  EXPECT_EQ(marks({cuda::kTraceListEdges, cuda::kTraceSolveSegments, cuda::kTraceWalkChunk}),
            "1005:0 1006:0 1018:0 1018:2048");
}

TEST_F(KernelMarksTest, PagesThatAreCompressed) {
  compress({{"one", testing::wordy_bytes(4096), 0}, {"two", testing::wordy_bytes(100), 0}}, 1);
  EXPECT_EQ(marks({cuda::kTraceCompressPage}), "1007:0 1007:1");
}

TEST_F(KernelMarksTest, SegmentsOfBlocksAtLevel1) {
  compress({{"shorter than two segments", testing::wordy_bytes(7000), 0}}, 1);
  const std::string found = marks({cuda::kTraceCompressSegment});
  EXPECT_EQ(found.rfind("1008:0 1008:", 0), 0u) << found;
  EXPECT_EQ(std::count(found.begin(), found.end(), ':'), 2) << found;
  const std::string written = marks({cuda::kTraceWriteSegment});
  EXPECT_EQ(written.rfind("1009:0 1009:" + found.substr(12), 0), 0u) << written;
}

TEST_F(KernelMarksTest, TilesOfTheEncoder) {
  compress({{"several tiles", testing::wordy_bytes(60'000), 0}}, 3);
  const std::string left = marks({cuda::kTraceEncodeTile});
  EXPECT_EQ(left.rfind("1010:0 1010:" + std::to_string(cuda::kEncodeThreads) + " 1010:", 0), 0u) << left;
}

TEST_F(KernelMarksTest, ChunksThatAreRestored) {
  const std::vector<Bytes> blocks(2, two_sequences());
  restore(blocks, kTwoSequencesRestored,
          [&](const cuda::DeviceRestore& batch) { cuda::restore_many_lz4_pages_cuda(batch, stream()); });
  EXPECT_EQ(marks({cuda::kTraceRestoreChunk, cuda::kTraceRestoreWindow}), "1011:0 1011:1");
}

TEST_F(KernelMarksTest, FewPagesThatAreRestored) {
  const std::vector<Bytes> blocks(2, two_sequences());
  restore(blocks, kTwoSequencesRestored,
          [&](const cuda::DeviceRestore& batch) { cuda::restore_few_lz4_pages_cuda(batch, stream()); });
  EXPECT_EQ(marks({cuda::kTraceRestoreChunk, cuda::kTraceRestoreWindow}), "1011:0 1011:1");
}

TEST_F(KernelMarksTest, WindowsOfBlocksThatAreRestored) {
  restore({two_sequences()}, kTwoSequencesRestored,
          [&](const cuda::DeviceRestore& batch) { cuda::restore_many_lz4_blocks_cuda(batch, stream()); });
  EXPECT_EQ(marks({cuda::kTraceRestoreChunk, cuda::kTraceRestoreWindow}),
            "1011:0 1012:0 1012:" + std::to_string(kFirstSequenceBytes));
}

TEST_F(KernelMarksTest, RoundsOfFewBlocksThatAreRestored) {
  restore({two_sequences()}, kTwoSequencesRestored,
          [&](const cuda::DeviceRestore& batch) { cuda::restore_few_lz4_blocks_cuda(batch, stream()); });
  const std::string left = marks({cuda::kTraceRestoreChunk, cuda::kTraceRestoreWindow});
  EXPECT_EQ(left.rfind("1011:0 1012:0", 0), 0u) << left;
}

TEST_F(KernelMarksTest, StreamsOfDeflateThatAreRestored) {
  restore(two_letters(), 1, deflate_way(cuda::DeflateWay::kMany));
  EXPECT_EQ(marks({cuda::kTraceRestoreStream}), "1023:0 1023:1");
}

TEST_F(KernelMarksTest, FewStreamsOfDeflateThatAreRestored) {
  for (const auto way : {cuda::DeflateWay::kFew, cuda::DeflateWay::kFewest}) {
    restore(two_letters(), 1, deflate_way(way));
    EXPECT_EQ(marks({cuda::kTraceRestoreStream}), "1023:0 1023:1");
  }
}

// Of a stream of three bytes all is the first of its kind. What is checked are blocks that are not the last, so there are many
// of these.
TEST_F(KernelMarksTest, StartsOfALongStream) {
  restore_piece(two_letters()[0], 1);
  EXPECT_EQ(marks({cuda::kTraceFindStarts, cuda::kTraceCheckStart}), "1025:0");
  const Bytes content = testing::wordy_bytes(60'000);
  restore_piece(testing::zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1), content.size());
  const std::string checked = marks({cuda::kTraceCheckStart});
  EXPECT_EQ(checked.rfind("1026:0 1026:1 1026:2 ", 0), 0u) << checked;
}

TEST_F(KernelMarksTest, EntriesOfALongStream) {
  restore_piece(two_letters()[0], 1);
  EXPECT_EQ(marks({cuda::kTraceRestoreEntry}), "1027:0");
}

TEST_F(KernelMarksTest, ChunksOfALongStream) {
  restore_piece(two_letters()[0], 1);
  EXPECT_EQ(marks({cuda::kTracePlaceChunk}), "1028:0");
}

// The first page holds markers, and has eight parts.
TEST_F(KernelMarksTest, WindowsAndPagesOfALongStream) {
  restore_piece(two_letters()[0], 1);
  EXPECT_EQ(marks({cuda::kTraceMapGroup, cuda::kTraceResolvePage}), "1029:0 1030:8");
}

TEST_F(KernelMarksTest, FewBytesThatAreCopied) {
  const cuda::DeviceBuffer<std::byte> d_from(300, stream()), d_to(300, stream());
  cuda::copy_few_bytes_cuda(d_to.get(), d_from.get(), 300, stream());
  EXPECT_EQ(marks({cuda::kTraceCopyFewBytes}), "1031:0 1031:256");
}

TEST_F(KernelMarksTest, StreamsOfABatchThatAreOpenedAndJudged) {
  const Bytes member = testing::gzip_member(testing::wordy_bytes(100));
  restore({member, member}, 100, [&](const cuda::DeviceRestore& batch) {
    const hemstitch_deflate_streams streams{reinterpret_cast<const void* const*>(batch.d_blocks),
                                            batch.d_block_bytes, batch.count, batch.max_block_bytes};
    const testing::Scratch temp(deflate_restore_temp_bytes(streams, Format::kGzip, batch.max_capacity),
                                stream());
    deflate_restore_async(streams, Format::kGzip, reinterpret_cast<void* const*>(batch.d_outputs),
                          batch.d_capacities, batch.max_capacity, nullptr, batch.d_output_bytes,
                          batch.d_statuses, {temp.get(), temp.bytes()}, stream());
    own_stream().synchronize();
  });
  EXPECT_EQ(marks({cuda::kTraceOpenStream}), "1033:0 1033:1");
  EXPECT_EQ(marks({cuda::kTraceJudgeStream}), "1034:0 1034:1");
}

TEST_F(KernelMarksTest, FramesOfZstandard) {
  const Bytes text = testing::wordy_bytes(3000);
  Bytes frame(ZSTD_compressBound(text.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 3));
  Bytes two = frame;
  two.insert(two.end(), frame.begin(), frame.end());  // which stages leave to the last kernel
  const std::vector<testing::Chunk> chunks{{frame, text.size(), {}, "one"},
                                           {two, 2 * text.size(), {}, "two"}};
  testing::RestoreBatch batch(chunks, stream());
  const testing::Scratch scratch(cuda::restore_zstd_cuda_scratch_bytes(batch.batch()), stream());
  cuda::restore_zstd_cuda(batch.batch(), scratch.get(), scratch.bytes(), stream());
  EXPECT_EQ(marks({cuda::kTraceRestoreZstdChunk}), "1035:0 1035:1");
  EXPECT_EQ(marks({cuda::kTraceRestoreZstdBlock}), "1036:0");
}

TEST_F(KernelMarksTest, PagesThatAreFilled) {
  const Bytes bytes = testing::random_bytes(3000);
  const auto d_bytes = on_device(bytes);
  const cuda::DeviceBuffer<std::byte> d_room(2 * bytes.size(), stream());
  const auto d_kept = on_device<const std::byte*>({d_bytes.get(), d_bytes.get()});
  const auto d_entries = on_device<Lz4PageEntry>({{3000, PageKind::kRaw}, {8, PageKind::kSameFilled}});
  const auto d_pages = on_device<std::byte*>({d_room.get(), d_room.get() + bytes.size()});
  const auto d_page_bytes = on_device<std::size_t>({bytes.size(), bytes.size()});
  const cuda::DeviceBuffer<hemstitch_status> d_statuses(2, stream());
  const cuda::DeviceLz4PageRestore pages{d_kept.get(),       d_entries.get(),  d_pages.get(),
                                         d_page_bytes.get(), d_statuses.get(), 2};
  const testing::Scratch scratch(cuda::restore_lz4_pages_cuda_scratch_bytes(pages), stream());
  cuda::restore_lz4_pages_cuda(pages, scratch.get(), scratch.bytes(), stream());
  EXPECT_EQ(marks({cuda::kTraceFillPage}), "1013:0 1013:1");
}

TEST_F(KernelMarksTest, ChunksOfDeflate) {
  const testing::FinderBatch batch(
      {{"one", testing::wordy_bytes(100), 0}, {"two", testing::wordy_bytes(200), 0}}, own_stream());
  const testing::OutputRooms outputs({300, 300}, stream());
  const cuda::DeviceLz4Output output = outputs.output();
  const testing::Scratch scratch(cuda::compress_deflate_cuda_scratch_bytes(batch.blocks(), deflate_level(12)),
                                 stream());
  cuda::compress_deflate_cuda(
      batch.blocks(), deflate_level(12), DeflateEnd::kFinal,
      {output.d_outputs, output.d_capacities, output.d_output_bytes, output.d_statuses}, scratch.get(),
      scratch.bytes(), stream());
  EXPECT_EQ(marks({cuda::kTraceCountTokens, cuda::kTracePackTile}), "1019:0 1021:0");
  EXPECT_EQ(marks({cuda::kTraceCutBlock}), "1032:0 1032:1");
  // Blocks are tried as runs of units, 36 for each of the two chunks, one of which exists; then as parts, 8
  // for each chunk.
  EXPECT_EQ(marks({cuda::kTraceCodeChunk}), "1020:0 1020:8 1020:36");
}

TEST_F(KernelMarksTest, SpansOfDeflateThatAreSummedUp) {
  const auto d_bytes = on_device(testing::random_bytes(100));
  const auto d_spans = on_device<const std::byte*>({d_bytes.get(), d_bytes.get() + 50, d_bytes.get() + 99});
  const auto d_sizes = on_device<std::size_t>({50, 49, 1});
  const cuda::DeviceBuffer<std::uint32_t> d_checksums(3, stream());
  cuda::crc32_spans_cuda(d_spans.get(), d_sizes.get(), 3, d_checksums.get(), stream());
  EXPECT_EQ(marks({cuda::kTraceDeflateChecksum}), "1022:0 1022:1 1022:2");
}

TEST_F(KernelMarksTest, SpansThatAreHashed) {
  const auto d_bytes = on_device(testing::random_bytes(100));
  const auto d_spans = on_device<const std::byte*>({d_bytes.get(), d_bytes.get() + 50, d_bytes.get() + 99});
  const auto d_sizes = on_device<std::size_t>({50, 49, 1});
  const cuda::DeviceBuffer<std::uint32_t> d_hashes(3, stream());
  cuda::checksum_lz4_cuda(d_spans.get(), d_sizes.get(), 3, d_hashes.get(), stream());
  EXPECT_EQ(marks({cuda::kTraceChecksumSpan}), "1014:0 1014:1 1014:2");
}

TEST_F(KernelMarksTest, TilesThatAreSearched) {
  const Bytes text(2 * kSearchTileBytes + 1);
  const auto d_text = on_device(text);
  const auto d_offsets = on_device<std::uint64_t>({0, text.size()});
  const PatternTable table(PatternSet({"needle"}, false));
  const auto d_table = on_device(table.words);
  const CudaTexts texts{d_text.get(), text.size(), d_offsets.get(), 1};
  const testing::Scratch scratch(cuda::search_cuda_scratch_bytes(texts), stream());
  const cuda::DeviceBuffer<std::uint64_t> d_total(1, stream());
  cuda::count_matches_cuda(texts, {table.places, d_table.get()}, d_total.get(), scratch.get(),
                           scratch.bytes(), stream());
  EXPECT_EQ(marks({cuda::kTraceSearchTile}), "1015:0 1015:1 1015:2");
}

// Two pieces of the size of a share, plus what a piece costs: the last share begins in the second piece.
TEST_F(KernelMarksTest, SharesOfPieces) {
  constexpr std::size_t kBytes = kLeastShareBytes;
  const cuda::DeviceBuffer<std::byte> d_from(2 * kBytes, stream()), d_to(2 * kBytes, stream());
  const auto d_sizes = on_device<std::uint32_t>({kBytes, kBytes});
  const auto d_offsets = on_device<std::uint64_t>({0, kBytes});
  const auto d_sources = on_device<const std::byte*>({d_from.get(), d_from.get() + kBytes});
  cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_offsets.get(), 2, d_to.get(), nullptr, 0,
                           stream());
  EXPECT_EQ(marks({cuda::kTraceCopyShare}), "1016:0 1016:1");
}

TEST_F(KernelMarksTest, SharesOfScatteredPieces) {
  const cuda::DeviceBuffer<std::byte> d_from(100, stream()), d_to(100, stream());
  const auto d_sizes = on_device<std::uint32_t>({100});
  const auto d_offsets = on_device<std::uint64_t>({0});
  const auto d_targets = on_device<std::byte*>({d_to.get()});
  cuda::scatter_pieces_cuda(d_from.get(), d_offsets.get(), d_sizes.get(), 1, d_targets.get(), nullptr, 0,
                            stream());
  EXPECT_EQ(marks({cuda::kTraceCopyShare}), "1016:0");
}

// If there are few tiles, they are assigned one by one.
TEST_F(KernelMarksTest, BuffersThatAreShuffled) {
  const cuda::DeviceBuffer<std::byte> d_from(2 * kShuffleTileBytes, stream()),
      d_to(2 * kShuffleTileBytes, stream());
  const auto d_sizes = on_device<std::size_t>({kShuffleTileBytes + 4, 100});
  const auto d_sources = on_device<const std::byte*>({d_from.get(), d_from.get() + kShuffleTileBytes + 4});
  const auto d_targets = on_device<std::byte*>({d_to.get(), d_to.get() + kShuffleTileBytes + 4});
  const testing::Scratch scratch(cuda::shuffle_cuda_scratch_bytes(2), stream());
  cuda::shuffle_cuda({d_sources.get(), d_sizes.get(), d_targets.get(), 2, 4}, scratch.get(), scratch.bytes(),
                     stream());
  EXPECT_EQ(marks({cuda::kTraceShuffleBuffer}), "1024:0 1024:1");
}

}  // namespace
}  // namespace hemstitch
