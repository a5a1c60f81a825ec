// A format in the batch interface: compresses and restores blocks in device memory, as batch.h describes for
// its functions by format. known_formats.hpp lists the formats; batch/blocks_batch.cpp finds them.
//
// The host's side: it exists in every build and checks arguments, so that every build refuses the same ones.
// What runs on the device throws kDeviceUnavailable in a build without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "format/known_formats.hpp"
#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// The temporary memory of a call.
struct BatchTemp {
  void* d_temp;
  std::size_t bytes;
};

// Where results go: arrays on the device with an element for each block.
struct BatchOutputs {
  void* const* d_outputs;
  const std::size_t* d_capacities;
  std::size_t* d_output_bytes;
  hemstitch_status* d_statuses;
};

// Functions throw Error. The caller has checked that no pointer is NULL which batch.h does not allow to be.
class BatchFormat {
 public:
  virtual ~BatchFormat() = default;

  virtual Format id() const = 0;

  virtual std::size_t compress_bound(std::size_t block_bytes) const = 0;
  virtual std::size_t compress_temp_bytes(const hemstitch_blocks& blocks, int level) const = 0;
  virtual void compress_async(const hemstitch_blocks& blocks, int level, const BatchOutputs& outputs,
                              BatchTemp temp, hemstitch_stream stream) const = 0;

  virtual std::size_t restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                         std::size_t max_output_bytes) const = 0;
  virtual void restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                             std::size_t max_output_bytes, const std::uint32_t* d_history_bytes,
                             BatchTemp temp, hemstitch_stream stream) const = 0;

  virtual void checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes,
                               std::uint64_t count, std::uint32_t* d_checksums,
                               hemstitch_stream stream) const = 0;

  // Whether cuda::DeviceFormat::restore_stream() restores one long stream of it.
  virtual bool restores_long_streams() const { return false; }
};

// Those of the library.
#define HEMSTITCH_DECLARE(name, cuda, webgpu) \
  HEMSTITCH_IF_##cuda(std::vector<std::unique_ptr<BatchFormat>> make_##name##_batch_formats();)
HEMSTITCH_KNOWN_FORMATS(HEMSTITCH_DECLARE)
#undef HEMSTITCH_DECLARE

}  // namespace hemstitch
