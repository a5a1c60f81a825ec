// Which backend a run should use: the rule behind `auto`, as functions of plain facts and figures. They start
// nothing, read nothing and know no machine: the caller says what there is.
//
//   const std::vector<hemstitch::BackendCandidate> candidates = {
//       {cpu_facts, hemstitch::default_figures(cpu_facts)},
//       {gpu_facts, hemstitch::default_figures(gpu_facts)}};
//   const auto choice = hemstitch::select_backend(candidates, hemstitch::default_host_figures(16),
//                                                 {.level = 9, .content_bytes = 4'000'000'000});
//   // choice.backend, choice.reason, and the time predicted for each backend, stage by stage
//
// Model. A run consists of its start and then its stages: read, upload, kernel, download, write. Stages
// overlap, but never completely: the longest stage counts in full, and of the others the part that was
// measured not to overlap with it.
//
// Rates are in GB/s, 10^9 bytes per second. Thread safety: all functions are pure.
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

// Where data is, or goes. kNowhere: the data is examined and dropped.
enum class DataPlace { kFile, kMemory, kDevice, kNowhere };

// The work to do.
struct Workload {
  Direction direction = Direction::kCompress;
  std::optional<Format> format = {};                   // nullopt: any format
  int level = 1;                                       // one of the format's, when compressing
  std::optional<std::uint64_t> content_bytes = {};     // uncompressed size
  std::optional<std::uint64_t> compressed_bytes = {};  // when restoring: compressed size
  bool linked_blocks = false;                          // a device restores linked blocks one after the other
  DataPlace from = DataPlace::kMemory;
  DataPlace to = DataPlace::kMemory;
  unsigned threads = 0;  // 0: one per core
  bool pages =
      false;  // one call of PageBatch: pages of memory, each compressed alone, in a process that runs already
};

enum class BackendKind {
  kProcessor,
  kDevice,
  kSoftware,  // a device whose driver runs on the processor: for tests, never chosen
};

// A backend and its device. A fact of 0 is unknown: the model then assumes the fact of the device that the
// default figures were measured on.
struct BackendFacts {
  std::string backend = {};  // its name, as CompressOptions::backend takes it
  BackendKind kind = BackendKind::kSoftware;
  std::string device = {};  // the name its driver gives; empty for the processor
  unsigned units = 0;       // cores, or multiprocessors
  double memory_gbps = 0;   // bandwidth of the device's memory
  double bus_gbps = 0;      // to and from the device, pinned memory, one way
  bool is_started = false;  // this process has started it already: starting costs nothing
};

// The levels that have figures. Rates of the levels between them are interpolated geometrically.
inline constexpr std::array<int, 5> kFigureLevels = {1, 3, 6, 9, 12};

// What a backend achieves: the terms of the model, as data.
struct BackendFigures {
  double start_seconds = 0;          // until the first batch can be uploaded
  double pin_seconds = 0;            // per GB of memory that is pinned, before its first use
  double pinned_bytes = 0;           // the most that a long run pins
  std::array<double, 5> compress{};  // kernel rate at kFigureLevels, GB/s of content
  double restore = 0;                // kernel rate, GB/s of content
  double bus_gbps = 0;               // up, and down; 0: the rates above include the transfers
  double overlap = 0;  // 0 to 1: the part of the shorter stages that overlaps with the longest one
};

// The host's rates, which are the same for all backends.
struct HostFigures {
  double read_gbps = 0;         // reading a file in the page cache
  double write_gbps = 0;        // writing a new file
  double copy_gbps = 0;         // memory to memory, by all threads
  double to_device_gbps = 0;    // upload from memory that is not pinned
  double from_device_gbps = 0;  // download to such memory
};

// The table of measured figures. For other devices they are scaled by the facts (multiprocessors or cores,
// memory, bus). gzip, BGZF, zlib and raw DEFLATE have the same figures, except for restoring: BGZF is
// restored by blocks, the others as one stream. Returns nullopt for a backend that is not in the table. To
// have it chosen, measure it and pass its figures.
HEMSTITCH_API std::optional<BackendFigures> default_figures(const BackendFacts& facts,
                                                            Format format = Format::kLz4);
HEMSTITCH_API HostFigures default_host_figures(unsigned cores);

// The predicted duration of a run, in seconds.
struct StageSeconds {
  double start = 0, read = 0, upload = 0, kernel = 0, download = 0, write = 0;
  double total = 0;

  // The name of the longest stage, for which the run waits.
  HEMSTITCH_API std::string_view longest() const;
};

// Returns nullopt if the size of the work is not known.
HEMSTITCH_API std::optional<StageSeconds> predict(const BackendFacts& facts, const BackendFigures& figures,
                                                  const HostFigures& host, const Workload& work);

struct BackendCandidate {
  BackendFacts facts;
  std::optional<BackendFigures> figures;  // nullopt: not measured, and never chosen
};

struct BackendPrediction {
  std::string backend;
  std::optional<StageSeconds> seconds;
  std::string why_not;  // if there is no prediction: why
};

struct BackendChoice {
  std::string backend;
  std::string reason;
  std::vector<BackendPrediction> predictions;  // in the order of the candidates
};

// A device must save at least this part of the processor's time. A smaller gain is lost in what the model
// does not know.
inline constexpr double kLeastGain = 0.1;

// Chooses the first candidate of kProcessor; or, if a device is predicted to save kLeastGain of its time, the
// fastest device. If the size is not known, it chooses the processor. Throws kInvalidOption if no candidate
// is a processor.
HEMSTITCH_API BackendChoice select_backend(std::span<const BackendCandidate> candidates,
                                           const HostFigures& host, const Workload& work);

// The least content size from which select_backend() chooses `backend` for such work; sizes in `work` are
// ignored. nullopt if it never does. Once it chooses a backend, it chooses it for all larger sizes too.
HEMSTITCH_API std::optional<std::uint64_t> least_content_bytes(std::string_view backend,
                                                               std::span<const BackendCandidate> candidates,
                                                               const HostFigures& host, Workload work);

// The rule of founding document 004, to be shown beside the choice: a device pays off if its kernel takes
// over five times as long as its transfers. It decides nothing here, because it compares a device with
// itself: a kernel half as fast satisfies it sooner, a faster bus makes it fail later, and the processor's
// time does not appear in it.
struct TransferRule {
  double transfer_seconds = 0;  // all bytes, both ways
  double kernel_seconds = 0;
  double least_kernel_seconds = 0;  // what the rule requires
  bool is_satisfied = false;
};
HEMSTITCH_API TransferRule transfer_rule(std::uint64_t content_bytes, double kernel_gbps, double bus_gbps);

}  // namespace hemstitch
