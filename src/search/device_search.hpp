// Searches texts on a device. It returns every match; the host turns matches into lines, counts and names
// (line_search.hpp). One object serves one run, batch after batch, one thread at a time.
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

// Texts one after the other: text i from offsets[i] to offsets[i + 1].
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
  std::uint64_t begin;  // position of the text's first byte, in the numbering of the matches
};

class DeviceSearch {
 public:
  virtual ~DeviceSearch() = default;

  // Makes the device current for the calling thread. Call it before find() and find_in_compressed().
  virtual void use_in_this_thread() = 0;

  // Finds what find_in_texts() finds. Throws the device family's errors.
  virtual std::vector<PackedMatch> find(const SearchTexts& texts) = 0;

  // Restores the compressed files among `files` and searches their content, if the device can. It passes
  // results to `take`, group by group; all checksums were verified. A file that it does not pass is left to
  // the host, which reports what is wrong with it. The same holds for a file whose content is larger than
  // `most_bytes`, which is also the limit of a group. With `texts`, files with matches come with their
  // text; without, none does.
  virtual void find_in_compressed(const SearchTexts& files, std::uint64_t most_bytes, bool texts,
                                  const std::function<void(std::span<const RestoredFile>)>& take) = 0;

  // For TextSearcher, with texts in the device's memory: the first for webgpu only, the others for cuda
  // only.
  virtual std::vector<PackedMatch> find(const WebgpuTexts& texts);
  virtual std::size_t temp_bytes(const CudaTexts& texts) const;
  virtual void count_async(const CudaTexts& texts, std::uint64_t* d_count, void* d_temp,
                           std::size_t temp_bytes, CUstream_st* stream) const;
  virtual void write_async(const CudaTexts& texts, std::uint64_t* d_matches, std::uint64_t room, void* d_temp,
                           std::size_t temp_bytes, CUstream_st* stream) const;
};

// Whether a backend of that name may have a device search, as far as is known before it starts.
bool may_search_on_device(std::string_view backend);

// A search on a device of that backend (CompressOptions::device). Nothing if the host searches: for cpu,
// reference, and also auto, since the processor searches files as fast as they are read, and a device takes
// longer to start (bench/results). Throws kUnknownBackend and kDeviceUnavailable. The pattern set is not
// copied.
std::unique_ptr<DeviceSearch> make_device_search(std::string_view backend, std::string_view device,
                                                 const PatternSet& patterns);

// On this device. Throws kDeviceUnavailable in builds without WebGPU.
std::unique_ptr<DeviceSearch> make_device_search(const WebgpuDevice& device, const PatternSet& patterns);

}  // namespace hemstitch
