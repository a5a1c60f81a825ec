// Finds and parses a file on the GPU, in blocks of 64 KB, without its candidates or sequences ever leaving the device:
// what an encoder of one's own would start from. Prints how many sequences there are and how many bytes are literals.
//
//   sequences_on_device FILE [LEVEL|coop_stitch]      coop_stitch: with that finder, and the parse of level 3
#include <cuda_runtime.h>
#include <hemstitch/batch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void check(hemstitch_status status) {
  if (status == HEMSTITCH_OK) return;
  std::fprintf(stderr, "%s: %s\n", hemstitch_status_text(status), hemstitch_last_error_message());
  std::exit(1);
}

template <class T>
T* device_array(std::size_t count) {
  T* array = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&array), std::max<std::size_t>(count, 1) * sizeof(T)));
  return array;
}

template <class T>
T* upload(const std::vector<T>& from) {
  T* array = device_array<T>(from.size());
  check(cudaMemcpy(array, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return array;
}

template <class T>
std::vector<T> download(const T* from, std::size_t count) {
  std::vector<T> into(count);
  check(cudaMemcpy(into.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return into;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s FILE [LEVEL|coop_stitch]\n", arguments[0]);
    return 1;
  }
  const bool cooperative = count > 2 && std::strcmp(arguments[2], "coop_stitch") == 0;
  const int level = count > 2 && !cooperative ? std::atoi(arguments[2]) : 3;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) {
    std::fprintf(stderr, "cannot read %s\n", arguments[1]);
    return 1;
  }

  // The batch: pointers and sizes of the blocks, on the device. Each block may point back into all before it, up to
  // 64 KB: its history is simply what stands there.
  constexpr std::size_t kBlockBytes = 65536;
  const char* d_bytes = upload(bytes);
  std::vector<const void*> inputs;
  std::vector<uint32_t> sizes, histories;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kBlockBytes) {
    inputs.push_back(d_bytes + begin);
    sizes.push_back(static_cast<uint32_t>(std::min(kBlockBytes, bytes.size() - begin)));
    histories.push_back(static_cast<uint32_t>(std::min(kBlockBytes, begin)));
  }
  hemstitch_batch batch{};
  batch.inputs = upload(inputs);
  batch.input_bytes = upload(sizes);
  batch.history_bytes = upload(histories);
  batch.count = static_cast<uint32_t>(inputs.size());
  batch.max_input_bytes = kBlockBytes;
  batch.max_history_bytes = kBlockBytes;
  batch.total_input_bytes = bytes.size();

  hemstitch_find_options find{};
  hemstitch_parse_options parse{};
  if (cooperative)
    check(hemstitch_find_options_for_finder(HEMSTITCH_FINDER_COOP_STITCH, &find));
  else
    check(hemstitch_find_options_for_level(level, kBlockBytes, &find));
  check(hemstitch_parse_options_for_level(level, &parse));

  // How much memory, then the memory.
  std::size_t find_temp_bytes = 0, parse_temp_bytes = 0;
  uint64_t capacity = 0;
  check(hemstitch_find_temp_bytes(&batch, &find, &find_temp_bytes));
  check(hemstitch_parse_temp_bytes(&batch, &parse, &parse_temp_bytes));
  check(hemstitch_parse_capacity(&batch, &parse, &capacity));
  // The two calls follow each other on one stream, so they can share it.
  const std::size_t temp_bytes = std::max(find_temp_bytes, parse_temp_bytes);
  void* temp = device_array<char>(temp_bytes);
  auto* candidates = device_array<hemstitch_candidate>(bytes.size());
  auto* first = device_array<uint64_t>(inputs.size() + 1);
  auto* sequences = device_array<hemstitch_sequence>(capacity);
  auto* first_sequences = device_array<uint64_t>(inputs.size());
  auto* counts = device_array<uint32_t>(inputs.size());
  auto* total = device_array<uint64_t>(1);
  auto* statuses = device_array<hemstitch_status>(inputs.size());

  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(hemstitch_find_async(&batch, &find, candidates, first, statuses, temp, temp_bytes, stream));
  check(hemstitch_parse_async(&batch, &parse, candidates, sequences, first_sequences, counts, total, statuses,
                              temp, temp_bytes, stream));
  // An encoder's kernels would follow here, on the same stream. This example looks at the result instead.
  check(cudaStreamSynchronize(stream));

  for (const hemstitch_status status : download(statuses, inputs.size())) check(status);
  const std::vector<uint64_t> lists = download(first_sequences, inputs.size());
  const std::vector<uint32_t> lengths = download(counts, inputs.size());
  const std::vector<hemstitch_sequence> all = download(sequences, capacity);
  uint64_t literal_bytes = 0;
  for (std::size_t block = 0; block < lists.size(); ++block)
    for (uint32_t i = 0; i < lengths[block]; ++i) literal_bytes += all[lists[block] + i].literal_bytes;
  std::printf("%zu bytes: %llu sequences, %llu bytes are literals\n", bytes.size(),
              static_cast<unsigned long long>(download(total, 1)[0]),
              static_cast<unsigned long long>(literal_bytes));
  return 0;
}
