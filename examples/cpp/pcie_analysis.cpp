// When does a GPU pay for pages of 4 KB? What the model behind "auto" predicts for batches of many sizes, beside the rule that a kernel
// should take five times as long as its transfers.
//
//   pcie_analysis [CORES [MULTIPROCESSORS [BUS_GBPS]]]      default: 16 cores, an H200's 132 and 55
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "hemstitch/choice.hpp"

int main(int count, char** words) {
  const unsigned cores = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 16;
  const unsigned multiprocessors = count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : 132;
  const double bus_gbps = count > 3 ? std::atof(words[3]) : 55;
  using namespace hemstitch;
  // Started, both: a store that works for hours pays for that once.
  const BackendFacts processor{
      .backend = "cpu", .kind = BackendKind::kProcessor, .units = cores, .is_started = true};
  const BackendFacts device{.backend = "cuda",
                            .kind = BackendKind::kDevice,
                            .device = "a GPU",
                            .units = multiprocessors,
                            .bus_gbps = bus_gbps,
                            .is_started = true};
  const std::vector<BackendCandidate> candidates = {{processor, default_figures(processor)},
                                                    {device, default_figures(device)}};
  const HostFigures host = default_host_figures(cores);
  std::printf("%u cores, %u multiprocessors, %.0f GB/s\n\n%10s %12s %12s %8s %22s\n", cores, multiprocessors,
              bus_gbps, "pages", "cpu ms", "cuda ms", "takes", "rule of 5 transfers");
  for (const std::uint64_t pages : {100, 500, 1000, 2000, 5000, 10000, 100000, 1000000}) {
    const Workload work{.format = Format::kLz4, .level = 1, .content_bytes = pages * 4096, .pages = true};
    const BackendChoice choice = select_backend(candidates, host, work);
    const double kernel_gbps = candidates[1].figures->compress[0];
    const TransferRule rule = transfer_rule(pages * 4096, kernel_gbps, bus_gbps);
    std::printf("%10llu %12.3f %12.3f %8s %22s\n", static_cast<unsigned long long>(pages),
                choice.predictions[0].seconds->total * 1e3, choice.predictions[1].seconds->total * 1e3,
                choice.backend.c_str(), rule.is_satisfied ? "a GPU" : "no GPU");
  }
  return 0;
}
