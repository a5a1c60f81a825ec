// Restores the chunks of an array on the GPU, as Zarr and HDF5 keep them with their zlib filter: a zlib stream a chunk, all chunks of one size.
// The streams cross the bus, the array never does but to be written to a file here. One call restores all chunks, each straight to its place, and
// verifies their checksums.
//
//   inflate_chunks CHUNK_BYTES OUTPUT CHUNK...      CHUNK: a file with a stream, in the order of the array; the last one may be shorter
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <hemstitch/batch.hpp>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace batch = hemstitch::batch;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Device memory until the end of its scope.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(count, 1) * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::span<T> span() const { return {data_, count_}; }
  std::vector<T> download(std::size_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

int run(std::size_t chunk_bytes, const char* output_path, const std::vector<std::string>& paths) {
  // One behind the other; what stands where is told by arrays on the device.
  std::vector<char> bytes;
  std::vector<std::size_t> begins, sizes;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    begins.push_back(bytes.size());
    bytes.insert(bytes.end(), std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    sizes.push_back(bytes.size() - begins.back());
  }
  const std::size_t count = paths.size();
  const DeviceArray<char> d_bytes(bytes);
  const DeviceArray<std::byte> d_array(count * chunk_bytes);
  std::vector<const void*> streams;
  std::vector<void*> places;
  for (std::size_t i = 0; i < count; ++i) {
    streams.push_back(d_bytes.get() + begins[i]);
    places.push_back(d_array.get() + i * chunk_bytes);
  }
  const DeviceArray<const void*> d_streams(streams);
  const DeviceArray<void*> d_places(places);
  const DeviceArray<std::size_t> d_sizes(sizes), d_rooms(std::vector<std::size_t>(count, chunk_bytes)),
      d_restored(count);
  const DeviceArray<hemstitch_status> d_statuses(count);

  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  const batch::Compressed chunks{.blocks = d_streams.span(),
                                 .block_bytes = d_sizes.span(),
                                 .max_block_bytes = *std::max_element(sizes.begin(), sizes.end())};
  const DeviceArray<std::byte> temp(
      batch::blocks_restore_temp_bytes(hemstitch::Format::kZlib, chunks, chunk_bytes));
  batch::blocks_restore(hemstitch::Format::kZlib, chunks,
                        {.outputs = d_places.span(),
                         .capacities = d_rooms.span(),
                         .output_bytes = d_restored.span(),
                         .statuses = d_statuses.span()},
                        chunk_bytes, {}, temp.span(), stream);
  // Kernels that read the array would follow here, on the same stream. This example looks at the result instead.
  check(cudaStreamSynchronize(stream));

  const std::vector<hemstitch_status> statuses = d_statuses.download(count);
  const std::vector<std::size_t> restored = d_restored.download(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (statuses[i] != HEMSTITCH_OK) {
      std::fprintf(stderr, "%s: %s\n", paths[i].c_str(), hemstitch_status_text(statuses[i]));
      return 1;
    }
    if (restored[i] != chunk_bytes && i + 1 != count) {
      std::fprintf(stderr, "%s: holds %zu bytes instead of %zu\n", paths[i].c_str(), restored[i],
                   chunk_bytes);
      return 1;
    }
  }
  const std::vector<std::byte> array = d_array.download((count - 1) * chunk_bytes + restored.back());
  std::ofstream(output_path, std::ios::binary)
      .write(reinterpret_cast<const char*>(array.data()), static_cast<std::streamsize>(array.size()));
  std::printf("%zu chunks of %zu bytes became an array of %zu\n", count, bytes.size(), array.size());
  check(cudaStreamDestroy(stream));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t chunk_bytes = count > 3 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  if (chunk_bytes == 0) {
    std::fprintf(stderr, "usage: %s CHUNK_BYTES OUTPUT CHUNK...\n", arguments[0]);
    return 1;
  }
  try {
    return run(chunk_bytes, arguments[2], std::vector<std::string>(arguments + 3, arguments + count));
  } catch (const hemstitch::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
