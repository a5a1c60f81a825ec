// How search divides the memory of --memory. Reports are written in the order of the files. So many threads
// search files ahead of their turn, as far as there is room for their content and their reports. A file that
// needs more waits, and is searched when its turn has come, in room that is reserved for the file whose turn
// it is.
//
//   ahead    pieces         each thread's, of the file that it reads
//            restored       each thread's, with -z: a small file's content
//            reports        what waits to be said
//            batches        with a device, instead of pieces: of files that it searches
//            texts          with a device that restores: texts that it returns at once
//   both     restoring      with -z: blocks of a compressed stream
//   in turn  line           the longest line
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hemstitch::cli {

struct SearchMemory {
  unsigned threads;            // fewer if there is no room for more
  std::size_t piece_bytes;     // of a thread
  std::size_t restored_bytes;  // of a thread
  std::uint64_t reports_bytes;
  std::uint64_t restoring_bytes;
  std::size_t line_bytes;
  std::uint64_t batch_bytes;
  std::size_t batches_in_flight;
  std::uint64_t texts_bytes;  // of a batch's files that a device restores
};

// A limit below 2 MB counts as 2 MB, with a device 8 MB. Without a limit: 256 MB, with a device 4 GB or an
// eighth of the host's memory.
SearchMemory divide_search_memory(std::optional<std::uint64_t> limit_bytes, unsigned threads, bool decompress,
                                  bool device);

}  // namespace hemstitch::cli
