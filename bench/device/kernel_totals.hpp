// Rows of recorded runs for kernels that work on files one by one, and of all files together.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>

namespace hemstitch::bench {

struct KernelRow {
  std::string what, format, level, file;
  std::size_t block_bytes = 0, bytes = 0;
  double ratio = 0, gbps = 0;  // ratio 0: it has none
  bool verified = true;

  void print() const {
    std::printf(
        "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"%s\",\"level\":\"%s\",\"block_bytes\":%zu,"
        "\"file\":\"%s\",\"bytes\":%zu,",
        what.c_str(), format.c_str(), level.c_str(), block_bytes, file.c_str(), bytes);
    if (ratio != 0) std::printf("\"ratio\":%.4f,", ratio);
    std::printf("\"gbps\":%.1f,\"span\":\"kernel\",\"verified\":%s}\n", gbps, verified ? "true" : "false");
    std::fflush(stdout);
  }
};

// All files of each kind of row: as if one copy of each were worked on one after the other.
class KernelTotals {
 public:
  // Prints the row. `file_bytes` of one copy, and what they become; 0 where the row has no ratio.
  void add(const KernelRow& row, std::size_t file_bytes, std::size_t output_bytes) {
    row.print();
    Total& total = totals_[row.what + "/" + row.format + "/" + row.level];
    if (total.row.what.empty()) {
      total.row = row;
      total.row.bytes = 0;
      total.row.file = "nine files";
    }
    total.row.bytes += file_bytes;
    total.output_bytes += output_bytes;
    total.seconds += static_cast<double>(file_bytes) / row.gbps / 1e9;
    total.row.verified &= row.verified;
  }
  void print() const {
    for (const auto& [key, total] : totals_) {
      KernelRow row = total.row;
      row.gbps = static_cast<double>(row.bytes) / total.seconds / 1e9;
      row.ratio = total.output_bytes == 0
                      ? 0
                      : static_cast<double>(row.bytes) / static_cast<double>(total.output_bytes);
      row.print();
    }
  }

 private:
  struct Total {
    KernelRow row;
    std::size_t output_bytes = 0;
    double seconds = 0;
  };
  std::map<std::string, Total> totals_;
};

}  // namespace hemstitch::bench
