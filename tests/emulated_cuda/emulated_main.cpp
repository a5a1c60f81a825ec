// hemstitch-emulated: the tool with one more backend, `emulated`, which restores as `cuda` does: by CUDA's kernels, on the processor. What the kernels
// refuse, and streams of formats without kernels here, the reference restores, as for `cuda`.
#include "backend_of.hpp"
#include "cli/tool.hpp"
#include "engine/registry.hpp"
#include "format/deflate/restore/deflate_restore_cuda.hpp"
#include "format/formats.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "kernel_batch.hpp"
#include "zstd_device_reads.hpp"
#include "zstd_kernel_pieces.hpp"

namespace hemstitch::testing {
namespace {

void restore_by_kernels(Format format, const cuda::DeviceRestore& batch) {
  switch (format) {
    case Format::kLz4: {
      Bytes scratch(cuda::restore_lz4_cuda_scratch_bytes(batch));
      return cuda::restore_lz4_cuda(batch, scratch.data(), scratch.size(), nullptr);
    }
    case Format::kZstd: {
      Bytes scratch(cuda::restore_zstd_cuda_scratch_bytes(batch));
      return cuda::restore_zstd_cuda(batch, scratch.data(), scratch.size(), nullptr,
                                     cuda::ZstdChunkForm::kBlocks);
    }
    default: {
      Bytes scratch(cuda::restore_deflate_cuda_scratch_bytes(batch));
      return cuda::restore_deflate_cuda(batch, scratch.data(), scratch.size(), nullptr);
    }
  }
}

// A frame of Zstandard by the decoder of streams, which leaves nothing to the processor that a device could restore.
class ZstdStreamByKernels : public StreamDecoder {
 public:
  ZstdStreamByKernels(std::uint64_t window_bytes, std::unique_ptr<StreamDecoder> processor)
      : decoder_(
            window_bytes, std::move(processor),
            [window_bytes](ZstdDeviceLimits& limits) {
              return std::make_unique<ZstdKernelPieces>(window_bytes, limits);
            },
            {}, device_limits_of(PieceSize::kMany, window_bytes)),
        whole_(decoder_, true) {}

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    return whole_.restore(input, output);
  }
  std::uint64_t ahead_bytes() const override { return whole_.ahead_bytes(); }

 private:
  ZstdDeviceDecoder decoder_;
  SettledDecoder whole_;
};

class EmulatedEngine : public BlockEngine {
 public:
  std::size_t preferred_batch_bytes() const override { return std::size_t{1} << 20; }
  std::size_t preferred_batch_blocks() const override { return 16; }
  unsigned preferred_batches_in_flight(unsigned) const override { return 1; }

  void compress(std::span<BlockTask>, const EncodeParameters&) override {
    throw Error(Status::kInvalidOption, "backend 'emulated' only restores");
  }
  void restore(std::span<BlockTask> tasks, Format format) override {
    std::vector<KernelBlock> blocks;
    for (const BlockTask& task : tasks) blocks.push_back({task.input, task.history, task.output.size()});
    const std::vector<RestoredByKernel> restored = restored_by_kernels(
        blocks, [format](const cuda::DeviceRestore& batch) { restore_by_kernels(format, batch); });
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].status = restored[i].status == HEMSTITCH_OK ? Status::kOk : Status::kCorruptBlock;
      tasks[i].output_bytes = restored[i].content.size();
      std::ranges::copy(restored[i].content, tasks[i].output.begin());
    }
  }
  // The kernels for Zstandard know no dictionary.
  bool verifies_blocks(Format format) const override { return format != Format::kZstd; }
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, const FrameHeader& header,
                                                     std::span<const std::byte> dictionary,
                                                     const StreamMeans& means) override {
    if (format != Format::kZstd) return nullptr;
    auto reference = FormatTable::instance()
                         .codec(format, &FormatRow::reference)
                         ->make_stream_decoder(header, dictionary, means);
    if (!dictionary.empty()) return reference;
    return std::make_unique<ZstdStreamByKernels>(header.history_bytes, std::move(reference));
  }
};

class EmulatedBackend : public BackendOf<EmulatedEngine> {
 public:
  EmulatedBackend() : BackendOf("emulated") {}
  std::string_view fallback_name() const override { return "reference"; }
};

}  // namespace
}  // namespace hemstitch::testing

int main(int argc, char** argv) {
  hemstitch::BackendRegistry::instance().add(std::make_unique<hemstitch::testing::EmulatedBackend>());
  return hemstitch::cli::run_tool(argc, argv);
}
