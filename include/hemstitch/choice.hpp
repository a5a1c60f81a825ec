// Which backend a run should take: the rule behind `auto`, as a function of plain facts and figures. It starts nothing, reads
// nothing and knows no machine: who asks says what there is.
//
//   const std::vector<hemstitch::BackendCandidate> candidates = {
//       {cpu_facts, hemstitch::default_figures(cpu_facts)}, {gpu_facts, hemstitch::default_figures(gpu_facts)}};
//   const auto choice = hemstitch::select_backend(candidates, hemstitch::default_host_figures(16),
//                                                 {.level = 9, .content_bytes = 4'000'000'000});
//   // choice.backend, choice.reason, and what each would take, stage by stage
//
// A run takes its start and then its stages: read, upload, kernel, download, write. They overlap, never wholly: the longest one counts
// in full, and of the others what is measured not to hide behind it. Rates are GB/s, 10^9 bytes a second. Thread safety: all functions
// are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

enum class Direction { kCompress, kRestore };

// Where data stands, or goes. kNowhere: it is looked at and dropped.
enum class DataPlace { kFile, kMemory, kDevice, kNowhere };

// What is to be done.
struct Workload {
  Direction direction = Direction::kCompress;
  std::optional<Format> format = {};                   // nothing: whichever comes
  int level = 1;                                       // kMinLevel..kMaxLevel, of compressing
  std::optional<std::uint64_t> content_bytes = {};     // uncompressed
  std::optional<std::uint64_t> compressed_bytes = {};  // of what is restored
  bool linked_blocks = false;                          // a device restores those one after the other
  DataPlace from = DataPlace::kMemory;
  DataPlace to = DataPlace::kMemory;
  unsigned threads = 0;  // 0: one a core
};

enum class BackendKind {
  kProcessor,
  kDevice,
  kSoftware,  // a device's driver that runs on the processor: for tests, never chosen
};

// A backend and its device. What is not known of the device, 0, counts as that of the one that the default figures are from.
struct BackendFacts {
  std::string backend = {};  // its name, as CompressOptions::backend takes it
  BackendKind kind = BackendKind::kSoftware;
  std::string device = {};  // as its driver calls it; empty for the processor
  unsigned units = 0;       // cores, or multiprocessors
  double memory_gbps = 0;   // of the device's memory
  double bus_gbps = 0;      // to and from the device, pinned, one way
  bool is_started = false;  // by this process: its start costs nothing any more
};

// Levels that figures are kept for. Those between are reckoned with.
inline constexpr std::array<int, 5> kFigureLevels = {1, 3, 6, 9, 12};

// What a backend does, as data: the terms of the model.
struct BackendFigures {
  double start_seconds = 0;          // until the first batch can go up
  double pin_seconds = 0;            // for each GB that is pinned, before it is used first
  double pinned_bytes = 0;           // as much as a long run pins
  std::array<double, 5> compress{};  // kernel, GB/s of content, at kFigureLevels
  double restore = 0;                // the same
  double bus_gbps = 0;               // up, and down; 0: the way from and to memory is in the rates above
  double overlap = 0;                // 0 to 1: how much of the shorter stages hides behind the longest one
};

// What the host gives to all backends.
struct HostFigures {
  double read_gbps = 0;         // a file in the page cache
  double write_gbps = 0;        // a new file
  double copy_gbps = 0;         // memory to memory, by all threads
  double to_device_gbps = 0;    // from memory that is not pinned
  double from_device_gbps = 0;  // to such memory
};

// The table: figures of what was measured, for other devices scaled by their facts (multiprocessors or cores, memory, bus). gzip, BGZF, zlib and
// raw DEFLATE have the same, but that BGZF is restored by blocks and the others as one stream. Nothing for a backend that no table speaks of: it is not chosen unless it was measured.
HEMSTITCH_API std::optional<BackendFigures> default_figures(const BackendFacts& facts,
                                                            Format format = Format::kLz4);
HEMSTITCH_API HostFigures default_host_figures(unsigned cores);

// What a run is predicted to take.
struct StageSeconds {
  double start = 0, read = 0, upload = 0, kernel = 0, download = 0, write = 0;
  double total = 0;

  // The one that the run waits for.
  HEMSTITCH_API std::string_view longest() const;
};

// Nothing where the size of the work is not known.
HEMSTITCH_API std::optional<StageSeconds> predict(const BackendFacts& facts, const BackendFigures& figures,
                                                  const HostFigures& host, const Workload& work);

struct BackendCandidate {
  BackendFacts facts;
  std::optional<BackendFigures> figures;  // nothing: it was not measured, and is not chosen
};

struct BackendPrediction {
  std::string backend;
  std::optional<StageSeconds> seconds;
  std::string why_not;  // where there are none
};

struct BackendChoice {
  std::string backend;
  std::string reason;
  std::vector<BackendPrediction> predictions;  // in the order of the candidates
};

// A device has to save so much of the processor's time: what is saved by less is lost in what is not known.
inline constexpr double kLeastGain = 0.1;

// The first candidate of kProcessor, unless a device is predicted to save kLeastGain of its time; then the fastest device. Where the size is
// not known it is the processor. Throws kInvalidOption where no candidate is a processor.
HEMSTITCH_API BackendChoice select_backend(std::span<const BackendCandidate> candidates,
                                           const HostFigures& host, const Workload& work);

// From how much content on select_backend() takes `backend` for such work, whatever sizes that names; nothing where it never does. What
// it takes once it takes for all that is larger.
HEMSTITCH_API std::optional<std::uint64_t> least_content_bytes(std::string_view backend,
                                                               std::span<const BackendCandidate> candidates,
                                                               const HostFigures& host, Workload work);

// The rule of founding document 004, to be shown beside the choice: a kernel on a device pays off where it takes over five times as long
// as its transfers. It decides nothing here: it compares a device with itself. A kernel half as fast passes it sooner, a faster bus makes
// it fail later, and what the processor would take stands nowhere in it.
struct TransferRule {
  double transfer_seconds = 0;  // both ways, all bytes
  double kernel_seconds = 0;
  double least_kernel_seconds = 0;  // what the rule asks for
  bool is_satisfied = false;
};
HEMSTITCH_API TransferRule transfer_rule(std::uint64_t content_bytes, double kernel_gbps, double bus_gbps);

}  // namespace hemstitch
