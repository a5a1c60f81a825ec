// What a test enqueues on a stream, captured as a graph.
#pragma once

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::testing {

class CapturedGraph {
 public:
  template <class Enqueue>
  CapturedGraph(cudaStream_t stream, const Enqueue& enqueue) : stream_(stream) {
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    enqueue();
    cuda::check(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture");
    cuda::check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  // Wait for the stream before.
  ~CapturedGraph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch(int times = 1) const {
    for (; times > 0; --times) cuda::check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace hemstitch::testing
