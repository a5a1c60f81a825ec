// Searching texts on a device: every match comes back, and what is made of them (lines, counts, names) is the
// host's (line_search.hpp). One object serves one run, batch after batch; one thread
// at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "search/search.hpp"
#include "search/search_words.hpp"

namespace hemstitch {

// Texts that lie one behind the other: text i from offsets[i] to offsets[i + 1].
struct SearchTexts {
  std::span<const std::byte> bytes;
  std::span<const std::uint64_t> offsets;

  std::size_t count() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const std::byte> text(std::size_t i) const {
    return bytes.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

// A compressed text that was restored and searched on the device.
struct RestoredFile {
  std::size_t file;  // which of the texts
  std::string_view text;
  std::span<const PackedMatch> matches;
  std::uint64_t begin;  // position of the text's first byte, as the matches have it
};

class DeviceSearch {
 public:
  virtual ~DeviceSearch() = default;

  // Makes its device the calling thread's own: before find() and find_in_compressed().
  virtual void use_in_this_thread() = 0;

  // find_in_texts() of them. Throws the device family's errors.
  virtual std::vector<PackedMatch> find(const SearchTexts& texts) = 0;

  // Restores those of the texts (files, here) that are compressed, and searches what they hold, where the device can. What it
  // gives to `take`, group by group, is right: all checksums were verified. A file that it does not give is left to the host, which
  // can say what is wrong with it; so is one that holds more than `most_bytes`, which a group does not either. With `texts`,
  // those with matches have their text; without, none has.
  virtual void find_in_compressed(const SearchTexts& files, std::uint64_t most_bytes, bool texts,
                                  const std::function<void(std::span<const RestoredFile>)>& take) = 0;

  // TextSearcher's, of texts in the memory of its device: webgpu's alone, and cuda's alone.
  virtual std::vector<PackedMatch> find(const WebgpuTexts& texts);
  virtual std::size_t temp_bytes(const CudaTexts& texts) const;
  virtual void count_async(const CudaTexts& texts, std::uint64_t* d_count, void* d_temp,
                           std::size_t temp_bytes, CUstream_st* stream) const;
  virtual void write_async(const CudaTexts& texts, std::uint64_t* d_matches, std::uint64_t room, void* d_temp,
                           std::size_t temp_bytes, CUstream_st* stream) const;
};

// Whether a backend of that name may have a device search, as far as can be said before it is started.
bool may_search_on_device(std::string_view backend);

// On the device that is meant (CompressOptions::device) of the backend of that name. Nothing where searching there is the host's work: cpu, reference, and auto, since files
// are searched by the processor as fast as they are read, and a device takes longer to start (bench/results). Throws
// kUnknownBackend and kDeviceUnavailable. The set is not copied.
std::unique_ptr<DeviceSearch> make_device_search(std::string_view backend, std::string_view device,
                                                 const PatternSet& patterns);

// On that device. Throws kDeviceUnavailable in builds without WebGPU.
std::unique_ptr<DeviceSearch> make_device_search(const WebgpuDevice& device, const PatternSet& patterns);

std::unique_ptr<DeviceSearch> make_cuda_search(std::string_view device, const PatternSet& patterns);
std::unique_ptr<DeviceSearch> make_webgpu_search(std::shared_ptr<webgpu::Device> device,
                                                 const PatternSet& patterns);

}  // namespace hemstitch
