// The cost of searching on a CUDA device, once the texts are there.
//
//   search_device_bench FOLDER
//
// FOLDER has silesia/, whose files together are repeated to 2 GB. A figure is the median of eleven calls
// after one to warm up; a call counts the matches and writes them all. Then follows the question of founding
// document 002 (docs/founding.md): the same search over 10,000 buffers one by one, over the same bytes
// compacted into one buffer (with and without the time to compact), and over one file of the same size.
// Prints each row of a recorded run on a line. A row is verified if the matches in the first and the last
// copy are the CPU's.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "device_array.hpp"
#include "device_timing.hpp"
#include "search/search_cuda.hpp"
#include "search/search_words.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using cuda::check;

constexpr std::uint64_t kBytesInFlight = 2'000'000'000;
constexpr int kCalls = 11;
// The size of the corpus's texts, like files of a tree.
constexpr std::uint64_t kTextBytes = 16'700;
// For the document's buffers.
constexpr std::uint32_t kMostBufferBytes = 21'999;

// A search in texts on the device, with room for all matches.
class Search {
 public:
  Search(const CudaTexts& texts, const PatternSet& patterns, cudaStream_t stream)
      : texts_(texts),
        table_(patterns),
        d_table_(table_.words),
        patterns_{table_.places, d_table_.data},
        d_scratch_(cuda::search_cuda_scratch_bytes(texts)),
        d_total_(1) {
    count(stream);
    total_ = d_total_.download(0, 1)[0];
    d_matches_ = std::make_unique<DeviceArray<PackedMatch>>(total_);
  }

  void count(cudaStream_t stream) {
    cuda::count_matches_cuda(texts_, patterns_, d_total_.data, d_scratch_.data, d_scratch_.count, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  void run(cudaStream_t stream) {
    cuda::count_matches_cuda(texts_, patterns_, d_total_.data, d_scratch_.data, d_scratch_.count, stream);
    cuda::write_matches_cuda(texts_, patterns_, d_matches_->data, total_, d_scratch_.data, d_scratch_.count,
                             stream);
  }
  void write(cudaStream_t stream) {
    cuda::write_matches_cuda(texts_, patterns_, d_matches_->data, total_, d_scratch_.data, d_scratch_.count,
                             stream);
  }

  std::uint64_t total() const { return total_; }
  // Whether the matches from `first` on are `expected`, each moved by `shift`.
  bool holds(std::uint64_t first, const std::vector<SearchMatch>& expected, std::uint64_t shift) const {
    if (first + expected.size() > total_) return false;
    const std::vector<PackedMatch> found = d_matches_->download(first, expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i].position() != expected[i].position + shift || found[i].bytes() != expected[i].bytes)
        return false;
    return true;
  }

 private:
  CudaTexts texts_;
  PatternTable table_;
  DeviceArray<std::uint32_t> d_table_;
  cuda::DevicePatterns patterns_;
  DeviceArray<std::byte> d_scratch_;
  DeviceArray<std::uint64_t> d_total_;
  std::unique_ptr<DeviceArray<PackedMatch>> d_matches_;
  std::uint64_t total_ = 0;
};

void print(nlohmann::ordered_json row) { std::printf("%s\n", row.dump().c_str()); }

nlohmann::ordered_json row_of(const std::string& what, std::uint64_t bytes, std::uint64_t matches,
                              double seconds, bool verified) {
  return {{"what", "search"},
          {"backend", "cuda"},
          {"file", what},
          {"bytes", bytes},
          {"matches", matches},
          {"seconds", seconds},
          {"gbps", static_cast<double>(bytes) / seconds / 1e9},
          {"span", "kernel"},
          {"verified", verified}};
}

void corpus_rows(const std::string& corpus, cudaStream_t stream) {
  const std::uint64_t copies = kBytesInFlight / corpus.size(), bytes = copies * corpus.size();
  DeviceArray<std::byte> d_bytes(bytes);
  std::vector<std::uint64_t> offsets, once;
  for (std::uint64_t copy = 0; copy < copies; ++copy) {
    check(
        cudaMemcpy(d_bytes.data + copy * corpus.size(), corpus.data(), corpus.size(), cudaMemcpyHostToDevice),
        "cudaMemcpy");
    for (std::uint64_t at = 0; at < corpus.size(); at += kTextBytes)
      offsets.push_back(copy * corpus.size() + at);
    if (copy == 0) once = offsets;
  }
  once.push_back(corpus.size());
  offsets.push_back(bytes);
  const DeviceArray<std::uint64_t> d_offsets(offsets);

  struct Question {
    const char* name;
    std::vector<std::string> patterns;
    bool ignore_case;
  };
  const std::vector<Question> questions = {
      {"rare: Copperfield", {"Copperfield"}, false},
      {"rare: Copperfield, any case", {"Copperfield"}, true},
      {"common: the", {"the"}, false},
      {"common: the, any case", {"the"}, true},
      {"common: which", {"which"}, false},
      {"common: e", {"e"}, false},
      {"rare, 4 patterns", {"Copperfield", "Micawber", "Peggotty", "Uriah Heep"}, false},
      {"common, 4 patterns", {"the", "which", "and", "because"}, false},
      {"common, 4 patterns, any case", {"the", "which", "and", "because"}, true},
  };
  for (const Question& question : questions) {
    const PatternSet patterns(question.patterns, question.ignore_case);
    Search search({d_bytes.data, bytes, d_offsets.data, offsets.size() - 1}, patterns, stream);
    const auto seconds = bench::median_step_seconds(
        stream, kCalls, {[&] { search.run(stream); }, [&] { search.write(stream); }});
    const std::vector<SearchMatch> expected = find_in_texts(corpus, once, patterns);
    const bool verified =
        search.total() == copies * expected.size() && search.holds(0, expected, 0) &&
        search.holds((copies - 1) * expected.size(), expected, (copies - 1) * corpus.size());
    auto row = row_of(question.name, bytes, search.total(), seconds[0], verified);
    row["write_seconds"] = seconds[1];
    print(row);
  }
}

// A call for each buffer, as without compaction: each with offsets and a count of its own.
void search_one_by_one(const std::string& name, const std::vector<const std::byte*>& sources,
                       const std::vector<std::uint32_t>& sizes, std::uint64_t bytes,
                       const PatternSet& patterns, std::uint64_t expected, cudaStream_t stream) {
  constexpr std::uint64_t kRoom = 100;
  std::vector<std::uint64_t> pairs;
  for (const std::uint32_t size : sizes) pairs.insert(pairs.end(), {0, size});
  const DeviceArray<std::uint64_t> d_pairs(pairs);
  const PatternTable table(patterns);
  const DeviceArray<std::uint32_t> d_table(table.words);
  const cuda::DevicePatterns d_patterns{table.places, d_table.data};
  // 15 bytes more, since the number of tiles depends on the address.
  const DeviceArray<std::byte> d_scratch(
      cuda::search_cuda_scratch_bytes({nullptr, kMostBufferBytes + 15, nullptr, 1}));
  const DeviceArray<std::uint64_t> d_totals(sizes.size());
  const DeviceArray<PackedMatch> d_matches(sizes.size() * kRoom);
  const double seconds = bench::median_seconds(stream, 3, [&] {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const CudaTexts text{sources[i], sizes[i], d_pairs.data + 2 * i, 1};
      cuda::count_matches_cuda(text, d_patterns, d_totals.data + i, d_scratch.data, d_scratch.count, stream);
      cuda::write_matches_cuda(text, d_patterns, d_matches.data + kRoom * i, kRoom, d_scratch.data,
                               d_scratch.count, stream);
    }
  });
  std::uint64_t total = 0;
  for (const std::uint64_t of_one : d_totals.download(0, sizes.size())) total += of_one;
  print(row_of(name + ", one call each", bytes, total, seconds, total == expected));
}

void question_of_document_002(const std::string& corpus, std::size_t count, bool one_by_one,
                              cudaStream_t stream) {
  // 11,000 bytes on average.
  std::mt19937 random(1);
  std::vector<std::uint32_t> sizes(count);
  std::vector<std::uint64_t> offsets{0};
  for (std::uint32_t& size : sizes) {
    size = static_cast<std::uint32_t>(1 + random() % kMostBufferBytes);
    offsets.push_back(offsets.back() + size);
  }
  const std::uint64_t bytes = offsets.back();
  DeviceArray<std::byte> d_separate(bytes), d_compacted(bytes);
  for (std::uint64_t at = 0; at < bytes; at += corpus.size())
    check(cudaMemcpy(d_separate.data + at, corpus.data(), std::min<std::uint64_t>(corpus.size(), bytes - at),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
  const DeviceArray<std::uint32_t> d_sizes(sizes);
  DeviceArray<std::uint64_t> d_offsets(offsets.size());
  std::vector<const std::byte*> sources;
  for (std::size_t i = 0; i < count; ++i) sources.push_back(d_separate.data + offsets[i]);
  const DeviceArray<const std::byte*> d_sources(sources);
  DeviceArray<std::byte> d_scan(cuda::scan_sizes_cuda_scratch_bytes(count));
  const auto compact = [&] {
    cuda::scan_sizes_cuda(d_sizes.data, count, d_offsets.data, d_scan.data, d_scan.count, stream);
    cuda::gather_pieces_cuda(d_sources.data, d_sizes.data, d_offsets.data, count, d_compacted.data, nullptr,
                             0, stream);
  };
  compact();
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

  const PatternSet patterns({"Copperfield"}, false);
  const std::string name = fmt::format("{} buffers", count);
  Search compacted({d_compacted.data, bytes, d_offsets.data, count}, patterns, stream);
  const auto seconds = bench::median_step_seconds(stream, kCalls, {compact, [&] { compacted.run(stream); }});

  const DeviceArray<std::uint64_t> d_ends(std::vector<std::uint64_t>{0, bytes});
  Search whole({d_compacted.data, bytes, d_ends.data, 1}, patterns, stream);
  const double whole_seconds = bench::median_seconds(stream, kCalls, [&] { whole.run(stream); });

  std::string all;
  while (all.size() < bytes) all += corpus.substr(0, bytes - all.size());
  const std::vector<SearchMatch> expected = find_in_texts(all, offsets, patterns);
  const std::vector<SearchMatch> expected_whole =
      find_in_texts(all, std::vector<std::uint64_t>{0, bytes}, patterns);
  const bool verified = compacted.total() == expected.size() && compacted.holds(0, expected, 0);
  if (one_by_one) search_one_by_one(name, sources, sizes, bytes, patterns, expected.size(), stream);
  auto row = row_of(name + ", compacted before", bytes, compacted.total(), seconds[1], verified);
  row["peer"] = "as many bytes in one file";
  row["peer_gbps"] = static_cast<double>(bytes) / whole_seconds / 1e9;
  print(row);
  print(row_of(name + ", compacted and searched", bytes, compacted.total(), seconds[2], verified));
  print(row_of("one file of as many bytes", bytes, whole.total(), whole_seconds,
               whole.total() == expected_whole.size() && whole.holds(0, expected_whole, 0)));
}

int bench_search(const std::filesystem::path& folder) {
  std::string corpus;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    const testing::Bytes file = testing::read_file(folder / "silesia" / name);
    corpus.append(reinterpret_cast<const char*>(file.data()), file.size());
  }
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  corpus_rows(corpus, stream);
  question_of_document_002(corpus, 10'000, true, stream);
  question_of_document_002(corpus, 100'000, false, stream);
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "search_device_bench FOLDER\n");
    return 2;
  }
  try {
    return hemstitch::bench_search(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
