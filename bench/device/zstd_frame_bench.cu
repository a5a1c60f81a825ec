// What restoring one ordinary frame of Zstandard costs on a CUDA device: from the frame's bytes on the device to content there.
//
//   zstd_frame_device_bench FOLDER [SCALE]
//
// FOLDER holds silesia/. Inputs are made here, from its nine files behind one another, shuffled and each turned by another number of bytes
// in every repetition, so that blocks fall differently: 2.1 GB (times SCALE) of all nine by one thread of libzstd at levels 1 and 3; of four
// files of text at level 3; at level 9, and 0.41 GB at level 19, by all cores, as the zstd tool does with -T. "frame": the whole frame in one piece, between events. "frame, pieces":
// pieces as ZstdDeviceDecoder has them by three streams, by the host's clock: walking the headers of blocks, while pieces before are decoded and placed, and waiting for each
// piece included. "frame, in memory": hemstitch_long_stream_restore() without the checksum, where the device finds the blocks. Every figure is the median of three runs after one to warm up. Prints one row of a recorded run a line; a row is verified when all bytes are right. Times of decoding,
// placing and resolving go to standard error. Checksums are not verified.
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/stream/zstd_block_places.hpp"
#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "format/zstd/stream/zstd_stream_in_memory_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using testing::Bytes;

constexpr int kRuns = 3;
constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};
constexpr const char* kTexts[] = {"dickens", "samba", "xml", "reymont"};

Bytes mixed(std::vector<Bytes> files, std::size_t bytes) {
  std::mt19937 random(7);
  Bytes all;
  for (bool first = true; all.size() < bytes; first = false) {
    for (std::size_t i = files.size(); i-- > 1;) std::swap(files[i], files[random() % (i + 1)]);
    for (const Bytes& file : files) {
      const auto turn = static_cast<std::ptrdiff_t>(first ? 0 : random() % file.size());
      all.insert(all.end(), file.begin() + turn, file.end());
      all.insert(all.end(), file.begin(), file.begin() + turn);
    }
  }
  all.resize(bytes);
  return all;
}

Bytes written(const Bytes& content, int level, unsigned workers) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  if (workers != 0) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_nbWorkers, static_cast<int>(workers));
  Bytes frame(ZSTD_compressBound(content.size()));
  const std::size_t bytes =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size());
  if (ZSTD_isError(bytes) != 0) throw std::runtime_error(ZSTD_getErrorName(bytes));
  frame.resize(bytes);
  return frame;
}

void check_cuda(cudaError_t result) { cuda::check(result, "zstd_frame_bench"); }

// What a piece needs, of which two are under way at once.
struct Slot {
  Slot(std::uint32_t blocks, std::size_t capacity)
      : scratch_bytes(cuda::zstd_frame_scratch_bytes(blocks, capacity)),
        d_scratch(scratch_bytes),
        d_block_at(blocks),
        d_result(1) {}

  std::size_t scratch_bytes;
  DeviceArray<std::byte> d_scratch;
  DeviceArray<std::uint32_t> d_block_at;
  DeviceArray<cuda::ZstdFrameResult> d_result;
  cuda::ZstdFrameMemory memory(std::byte* d_carry) const {
    return {d_carry, d_result.data, d_scratch.data, scratch_bytes};
  }
  cuda::Event is_decoded, is_placed, is_resolved;
  ZstdBlockPlaces places;
  cuda::ZstdFramePiece piece;
};

class Frame {
 public:
  Frame(const Bytes& frame, const Bytes& content)
      : content_(content),
        d_content_(content.size()),
        d_carry_(cuda::zstd_frame_carry_bytes()),
        header_bytes_(4 + zstd_header_rest_bytes(frame[4])),
        window_bytes_(read_zstd_header(std::span(frame).subspan(4, header_bytes_ - 4))->window_bytes),
        frame_(frame),
        d_frame_(frame) {}

  // Seconds, all in one piece.
  double seconds_at_once(const std::string& name) {
    const ZstdBlockPlaces places = find_zstd_blocks(blocks(), ~std::size_t{0});
    const auto count = static_cast<std::uint32_t>(places.at.size());
    Slot slot(count, content_.size());
    slot.d_block_at.upload(places.at);
    const cuda::ZstdFramePiece piece = piece_of(slot, 0, places, 0, content_.size());
    const auto call = [&](auto what) { what(piece, slot.memory(d_carry_.data), nullptr); };
    forget();
    const std::vector<double> seconds = bench::median_step_seconds(
        nullptr, kRuns,
        {[&] {
           check_cuda(cudaMemsetAsync(d_carry_.data, 0, d_carry_.count, nullptr));
           call(cuda::decode_zstd_frame_piece);
         },
         [&] { call(cuda::place_zstd_frame_piece); }, [&] { call(cuda::resolve_zstd_frame_piece); }});
    const cuda::ZstdFrameResult result = slot.d_result.download(0, 1)[0];
    std::fprintf(stderr, "%s: %u of %u blocks, decoded in %.3f ms, placed in %.3f ms, resolved in %.3f ms\n",
                 name.c_str(), result.blocks, count, seconds[0] * 1e3, seconds[1] * 1e3, seconds[2] * 1e3);
    return seconds.back();
  }

  // Seconds, in pieces of which one is decoded while the one before is placed and resolved.
  double seconds_in_pieces() {
    FrameHeader header;
    header.history_bytes = static_cast<std::size_t>(window_bytes_);
    header.content_bytes = content_.size();
    const ZstdDeviceLimits limits =
        zstd_device_limits(header, {}, 0, [](const ZstdDeviceLimits&) { return 0; }).value();
    const std::size_t capacity = limits.content_bytes;
    const auto most_block_bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes_, kZstdMostBlockBytes));
    std::array<std::unique_ptr<Slot>, kZstdDecodedPieces> slots;
    for (auto& slot : slots)
      slot = std::make_unique<Slot>(static_cast<std::uint32_t>(limits.blocks), capacity);
    const cuda::Stream decoding(cuda::kZstdDecodingPriority), placing(cuda::kZstdPlacingPriority), resolving;
    forget();
    return bench::median_host_seconds(kRuns, [&] {
      check_cuda(cudaMemsetAsync(d_carry_.data, 0, d_carry_.count, decoding.get()));
      check_cuda(cudaStreamSynchronize(decoding.get()));
      std::size_t found_bytes = 0, done = 0, decoded = 0, placed = 0;
      std::size_t suited_blocks = limits.suited_blocks(most_block_bytes);
      const auto decode = [&] {
        Slot& slot = *slots[decoded % slots.size()];
        const auto data = blocks().subspan(found_bytes);
        slot.places = find_zstd_blocks(data.first(std::min(data.size(), limits.input_bytes)), suited_blocks);
        if (slot.places.at.empty()) return;
        slot.is_resolved.hold(decoding.get());
        check_cuda(cudaMemcpyAsync(slot.d_block_at.data, slot.places.at.data(), 4 * slot.places.at.size(),
                                   cudaMemcpyHostToDevice, decoding.get()));
        slot.piece = piece_of(slot, found_bytes, slot.places, 0, capacity);
        cuda::decode_zstd_frame_piece(slot.piece, slot.memory(d_carry_.data), decoding.get());
        slot.is_decoded.record(decoding.get());
        found_bytes += slot.places.data_bytes;
        ++decoded;
      };
      decode();
      while (placed < decoded) {
        Slot& slot = *slots[placed % slots.size()];
        // Content behind the frame's is never written.
        slot.piece =
            piece_of(slot, static_cast<std::size_t>(slot.piece.d_data - d_frame_.data) - header_bytes_,
                     slot.places, done, capacity);
        slot.is_decoded.hold(placing.get());
        cuda::place_zstd_frame_piece(slot.piece, slot.memory(d_carry_.data), placing.get());
        slot.is_placed.record(placing.get());
        cuda::ZstdFrameResult result{};
        check_cuda(cudaMemcpyAsync(&result, slot.d_result.data, sizeof result, cudaMemcpyDeviceToHost,
                                   placing.get()));
        slot.is_placed.hold(resolving.get());
        cuda::resolve_zstd_frame_piece(slot.piece, slot.memory(d_carry_.data), resolving.get());
        slot.is_resolved.record(resolving.get());
        if (decoded - placed < slots.size()) decode();
        check_cuda(cudaStreamSynchronize(placing.get()));
        done += result.content_bytes;
        ++placed;
        if (result.stop == cuda::ZstdFrameStop::kDoubt || result.blocks == 0) return;
        suited_blocks = limits.suited_blocks(most_block_bytes, result.blocks, result.content_bytes);
        if (result.stop == cuda::ZstdFrameStop::kNone) {
          if (decoded == placed) decode();
          continue;
        }
        cuda::rewind_zstd_frame_piece(slot.piece, slot.memory(d_carry_.data), decoding.get());
        found_bytes = static_cast<std::size_t>(slot.piece.d_data - d_frame_.data) - header_bytes_ +
                      slot.places.at[result.blocks];
        decoded = placed;
        decode();
      }
      check_cuda(cudaStreamSynchronize(resolving.get()));
    });
  }

  // Seconds of restoring it as a stream in device memory.
  double seconds_in_memory() {
    const std::size_t temp_bytes = cuda::zstd_stream_temp_bytes(frame_.size(), content_.size());
    DeviceArray<std::byte> d_temp(temp_bytes);
    const cuda::Stream stream;
    forget();
    const cuda::StreamInMemory work{.d_data = d_frame_.data,
                                    .bytes = frame_.size(),
                                    .output = {d_content_.data, content_.size()},
                                    .verifies = false};
    return bench::median_host_seconds(kRuns, [&] {
      const cuda::StreamOutcome outcome =
          cuda::restore_zstd_stream(work, d_temp.data, temp_bytes, stream.get());
      if (outcome.status != Status::kOk || outcome.host_bytes != 0)
        throw std::runtime_error("the device does not restore the frame");
    });
  }

  bool is_restored() const {
    constexpr std::size_t kPart = std::size_t{1} << 28;
    for (std::size_t at = 0; at < content_.size(); at += kPart) {
      const std::vector<std::byte> part = d_content_.download(at, std::min(kPart, content_.size() - at));
      if (!std::equal(part.begin(), part.end(), content_.begin() + static_cast<std::ptrdiff_t>(at)))
        return false;
    }
    return true;
  }

 private:
  std::span<const std::byte> blocks() const { return std::span(frame_).subspan(header_bytes_); }
  void forget() { check_cuda(cudaMemset(d_content_.data, 0xA5, content_.size())); }
  cuda::ZstdFramePiece piece_of(const Slot& slot, std::size_t used_bytes, const ZstdBlockPlaces& places,
                                std::size_t done, std::size_t capacity) const {
    return {.d_data = d_frame_.data + header_bytes_ + used_bytes,
            .data_bytes = places.data_bytes,
            .d_block_at = slot.d_block_at.data,
            .block_count = static_cast<std::uint32_t>(places.at.size()),
            .window_bytes = window_bytes_,
            .d_content = d_content_.data + done,
            .history_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(done, window_bytes_)),
            .capacity = capacity};
  }

  const Bytes& content_;
  DeviceArray<std::byte> d_content_, d_carry_;
  std::size_t header_bytes_;
  std::uint64_t window_bytes_;
  const Bytes& frame_;
  DeviceArray<std::byte> d_frame_;
};

void print(const char* what, const std::string& file, int level, std::size_t bytes, std::size_t frame_bytes,
           double seconds, bool verified) {
  std::printf(
      "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"zstd\",\"level\":\"libzstd "
      "%d\",\"file\":\"%s\",\"bytes\":%zu,\"ratio\":%.4f,\"gbps\":%.1f,\"span\":\"kernel\",\"verified\":%s}"
      "\n",
      what, level, file.c_str(), bytes, static_cast<double>(bytes) / static_cast<double>(frame_bytes),
      static_cast<double>(bytes) / seconds / 1e9, verified ? "true" : "false");
  std::fflush(stdout);
}

void measure(const std::string& file, const Bytes& content, int level, unsigned workers) {
  const Bytes bytes = written(content, level, workers);
  Frame frame(bytes, content);
  const double at_once = frame.seconds_at_once(file + ", level " + std::to_string(level));
  print("frame", file, level, content.size(), bytes.size(), at_once, frame.is_restored());
  const double in_pieces = frame.seconds_in_pieces();
  print("frame, pieces", file, level, content.size(), bytes.size(), in_pieces, frame.is_restored());
  const double in_memory = frame.seconds_in_memory();
  print("frame, in memory", file, level, content.size(), bytes.size(), in_memory, frame.is_restored());
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "zstd_frame_device_bench FOLDER [SCALE]\n");
    return 1;
  }
  const double scale = argc > 2 ? std::atof(argv[2]) : 1;
  const auto files = [&](std::span<const char* const> names) {
    std::vector<Bytes> read;
    for (const char* const name : names)
      read.push_back(testing::read_file(std::string(argv[1]) + "/silesia/" + name, std::size_t{1} << 30));
    return read;
  };
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const Bytes mix = mixed(files(kFiles), static_cast<std::size_t>(2.1e9 * scale));
  measure("mix", mix, 1, 0);
  measure("mix", mix, 3, 0);
  measure("mix", mix, 9, cores);
  measure("text", mixed(files(kTexts), static_cast<std::size_t>(2.1e9 * scale)), 3, 0);
  const std::size_t few = std::min(mix.size(), static_cast<std::size_t>(0.41e9 * scale));
  measure("mix", Bytes(mix.begin(), mix.begin() + static_cast<std::ptrdiff_t>(few)), 19, cores);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  try {
    return hemstitch::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zstd_frame_device_bench: %s\n", error.what());
    return 1;
  }
}
