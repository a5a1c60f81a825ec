// A checkpoint of a computation on a GPU: memory of the device to compressed files, and back. Compressed bytes cross the bus, and
// the files are ordinary .lz4 files.
//
//   checkpoint FOLDER
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <hemstitch/files.hpp>
#include <string>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int run(const std::string& folder) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));

  // Stands for the weights of two layers.
  constexpr std::size_t kCount = 8 << 20, kBytes = kCount * sizeof(float);
  std::vector<float> weights(kCount);
  for (std::size_t i = 0; i < kCount; ++i) weights[i] = static_cast<float>(i % 1000) / 8;
  std::byte* layers[2] = {};
  for (std::byte*& layer : layers) {
    check(cudaMalloc(reinterpret_cast<void**>(&layer), kBytes));
    check(cudaMemcpyAsync(layer, weights.data(), kBytes, cudaMemcpyHostToDevice, stream));
  }

  // What the stream still has to do comes first. A file appears under its name when it is complete, so that a run that is killed leaves
  // the checkpoint before.
  std::vector<std::string> paths;
  std::uint64_t written = 0;
  hemstitch::FrameSaveOptions save;
  save.stream = stream;
  for (const std::byte* layer : layers) {
    paths.push_back(folder + "/layer" + std::to_string(paths.size()) + ".lz4");
    written += hemstitch::save_frame({layer, kBytes}, paths.back(), save);
  }

  hemstitch::FrameLoadOptions load;
  load.stream = stream;
  const std::vector<hemstitch::DeviceContent> loaded = hemstitch::load_frames(paths, load);
  bool same = true;
  for (const hemstitch::DeviceContent& content : loaded) {
    std::vector<float> back(content.bytes() / sizeof(float));
    check(cudaMemcpy(back.data(), content.data(), content.bytes(), cudaMemcpyDeviceToHost));
    same = same && back == weights;
  }
  std::printf("%zu bytes became %llu, %s\n", 2 * kBytes, static_cast<unsigned long long>(written),
              same ? "restored exactly" : "and something else came back");
  for (std::byte* layer : layers) check(cudaFree(layer));
  return same ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 1;
  }
  try {
    return run(arguments[1]);
  } catch (const hemstitch::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
