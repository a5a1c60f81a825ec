// Compresses a file on the GPU into one LZ4 frame, in one piece of device memory, and restores it there: nothing but the
// file and its frame crosses the bus, and the host waits once for each way. Any LZ4 tool reads what is written.
//
//   lz4_on_device FILE OUTPUT.lz4 [LEVEL]
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <hemstitch/batch.hpp>
#include <iterator>
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
    check(cudaMalloc(reinterpret_cast<void**>(&data_), (count == 0 ? 1 : count) * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::span<T> span() const { return {data_, count_}; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// Of a whole frame: how large it is, and whether all went well.
struct Result {
  DeviceArray<std::uint64_t> bytes{1};
  DeviceArray<hemstitch_status> status{1};

  std::uint64_t wait(cudaStream_t stream) const {
    std::uint64_t count = 0;
    hemstitch_status outcome{};
    check(cudaMemcpyAsync(&count, bytes.get(), sizeof count, cudaMemcpyDeviceToHost, stream));
    check(cudaMemcpyAsync(&outcome, status.get(), sizeof outcome, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    if (outcome != HEMSTITCH_OK)
      throw hemstitch::Error(static_cast<hemstitch::Status>(outcome), "on the device");
    return count;
  }
};

int run(const std::vector<char>& content, const char* output_path, int level) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  DeviceArray<std::byte> d_content(content.size()), d_restored(content.size());
  check(cudaMemcpyAsync(d_content.get(), content.data(), content.size(), cudaMemcpyHostToDevice, stream));

  hemstitch_lz4_frame frame{};
  frame.block_bytes = 256 << 10;
  frame.block_checksums = 1;
  DeviceArray<std::byte> d_frame(batch::lz4_frame_bound(content.size(), frame));
  DeviceArray<std::byte> temp(batch::lz4_frame_compress_temp_bytes(content.size(), frame, level));
  const Result compressed;
  batch::lz4_frame_compress(d_content.span(), frame, level, d_frame.span(), compressed.bytes.get(),
                            compressed.status.get(), temp.span(), stream);
  std::vector<std::byte> written(compressed.wait(stream));
  check(cudaMemcpy(written.data(), d_frame.get(), written.size(), cudaMemcpyDeviceToHost));
  std::ofstream(output_path, std::ios::binary)
      .write(reinterpret_cast<const char*>(written.data()), static_cast<std::streamsize>(written.size()));

  const hemstitch_lz4_frame header = batch::lz4_frame_read_header(written);
  DeviceArray<std::byte> restore_temp(batch::lz4_frame_restore_temp_bytes(header));
  const Result restored;
  batch::lz4_frame_restore(d_frame.span().first(written.size()), header, d_restored.span(),
                           restored.bytes.get(), restored.status.get(), restore_temp.span(), stream);
  std::vector<char> back(restored.wait(stream));
  check(cudaMemcpy(back.data(), d_restored.get(), back.size(), cudaMemcpyDeviceToHost));
  std::printf("%zu bytes became %zu, %s\n", content.size(), written.size(),
              back == content ? "restored exactly" : "and something else came back");
  check(cudaStreamDestroy(stream));
  return back == content ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s FILE OUTPUT.lz4 [LEVEL]\n", arguments[0]);
    return 1;
  }
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (content.empty()) {
    std::fprintf(stderr, "%s: cannot be read, or empty\n", arguments[1]);
    return 1;
  }
  try {
    return run(content, arguments[2], count > 3 ? std::atoi(arguments[3]) : 1);
  } catch (const hemstitch::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
