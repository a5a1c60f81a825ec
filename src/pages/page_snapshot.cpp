// The pages of a store in a file: a skippable frame that says which pages they are (LZ4 frame format,
// "Skippable Frames"), then one frame of their bytes, in ascending order. All numbers are little-endian:
//
//   u32 0x184D2A5C, u32 number of bytes that follow
//   "hemspage", u32 version, u32 page_bytes, u64 runs, then for each run u64 first number, u64 count
//   u32 XXH32 of each MiB of the pages
//   u32 XXH32 of everything from "hemspage" on
//
// The pages have checksums here because a frame's own checksums reveal some damage only at its end (no
// checksum of a block covers the bit that says whether it is stored), and by then a page that was put is
// visible.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "core/descriptor.hpp"
#include "files/load/read_contents.hpp"
#include "files/save/new_file.hpp"
#include "format/checksum.hpp"
#include "format/skippable_frame.hpp"
#include "pages/page_store.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kIndexMagic = kSkippableMagic + 12;
constexpr std::string_view kName = "hemspage";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFrameHeaderBytes = 8, kIndexHeaderBytes = 24, kIndexRunBytes = 16;
// An LZ4 block restores to at most 255 times its size, so a file that claims more is wrong.
constexpr std::uint64_t kMostGrowth = 255;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

struct Run {
  std::uint64_t first = 0, count = 0;
};

struct Index {
  std::vector<Run> runs;
  std::uint64_t pages = 0;
  std::vector<std::uint32_t> piece_checksums;
};

std::uint64_t piece_count(std::uint64_t pages, std::uint32_t page_bytes) {
  return (pages * page_bytes + kPieceBytes - 1) / kPieceBytes;
}

std::vector<Run> runs_of(std::span<const std::uint64_t> numbers) {
  std::vector<Run> runs;
  for (const std::uint64_t number : numbers) {
    if (!runs.empty() && runs.back().first + runs.back().count == number && number != 0)
      ++runs.back().count;
    else
      runs.push_back({number, 1});
  }
  return runs;
}

void append32(std::vector<std::byte>& bytes, std::uint32_t number) {
  bytes.resize(bytes.size() + sizeof number);
  store_le32(bytes.data() + bytes.size() - sizeof number, number);
}
void append64(std::vector<std::byte>& bytes, std::uint64_t number) {
  bytes.resize(bytes.size() + sizeof number);
  store_le64(bytes.data() + bytes.size() - sizeof number, number);
}

// Reads a file from its beginning.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), kReadContentsFlags)) {
    struct stat facts {};
    if (descriptor_.number() < 0 || fstat(descriptor_.number(), &facts) != 0) fail(errno);
    if (!S_ISREG(facts.st_mode))
      throw Error(Status::kReadFailed, fmt::format("'{}' is not a regular file", path_));
    bytes_ = static_cast<std::uint64_t>(facts.st_size);
  }

  std::uint64_t bytes() const { return bytes_; }
  void go_to(std::uint64_t at) {
    if (lseek(descriptor_.number(), static_cast<off_t>(at), SEEK_SET) < 0) fail(errno);
  }
  std::size_t read(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count = ::read(descriptor_.number(), into.data() + done, into.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(errno);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }
  [[noreturn]] void damaged(const char* what) const {
    throw Error(Status::kCorruptHeader, fmt::format("'{}': {}", path_, what));
  }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(int error) const {
    throw system_error(Status::kReadFailed, fmt::format("'{}' cannot be read", path_), error);
  }
  std::string path_;
  Descriptor descriptor_;
  std::uint64_t bytes_ = 0;
};

// Calls take(piece) for pieces of so many bytes of the index, which come one after the other, so that memory does not grow
// with what the file claims. An item of the index is never in two pieces.
template <class Take>
void read_index_bytes(InputFile& file, std::uint64_t bytes, const Take& take) {
  static_assert(kPieceBytes % kIndexRunBytes == 0 && kPieceBytes % kChecksumBytes == 0);
  std::vector<std::byte> room(std::min<std::uint64_t>(bytes, kPieceBytes));
  while (bytes != 0) {
    const std::span<std::byte> piece = std::span(room).first(std::min<std::uint64_t>(bytes, room.size()));
    if (file.read(piece) != piece.size()) file.damaged("it ends within its index");
    take(std::span<const std::byte>(piece));
    bytes -= piece.size();
  }
}

// Reads the index, and checks it against the file's size and the store.
Index read_index(InputFile& file, const PageStoreOptions& options) {
  std::vector<std::byte> head(kFrameHeaderBytes + kIndexHeaderBytes);
  if (file.read(head) != head.size() || load_le32(head.data()) != kIndexMagic ||
      std::memcmp(head.data() + kFrameHeaderBytes, kName.data(), kName.size()) != 0)
    throw Error(Status::kUnknownFormat, fmt::format("'{}' is not a file of pages", file.path()));
  const std::uint64_t index_bytes = load_le32(head.data() + 4);
  const std::span<const std::byte> index = std::span<const std::byte>(head).subspan(kFrameHeaderBytes);
  const auto version = load_le32(index.data() + 8);
  if (version != kVersion)
    throw Error(Status::kUnsupportedVersion,
                fmt::format("'{}' has version {}; this program reads {}", file.path(), version, kVersion));
  const auto page_bytes = load_le32(index.data() + 12);
  if (page_bytes != options.batch.page_bytes)
    throw Error(Status::kInvalidOption, fmt::format("'{}' has pages of {} bytes; the store has pages of {}",
                                                    file.path(), page_bytes, options.batch.page_bytes));
  const auto run_count = load_le64(index.data() + 16);
  if (index_bytes < kIndexHeaderBytes + kChecksumBytes) file.damaged("its index is too short");
  const std::uint64_t rest_bytes = index_bytes - (kIndexHeaderBytes + kChecksumBytes);
  if (rest_bytes > file.bytes() || run_count > rest_bytes / kIndexRunBytes)
    file.damaged("its number of runs is impossible");

  // Nothing of it is kept before all of it is known to be intact.
  RunningChecksum checksum(Checksum::kXxh32);
  checksum.update(index);
  read_index_bytes(file, rest_bytes, [&](std::span<const std::byte> piece) { checksum.update(piece); });
  std::uint32_t kept_checksum = 0;
  read_index_bytes(file, kChecksumBytes,
                   [&](std::span<const std::byte> piece) { kept_checksum = load_le32(piece.data()); });
  if (checksum.digest() != kept_checksum)
    throw Error(Status::kHeaderChecksumMismatch, fmt::format("'{}': its index is damaged", file.path()));

  file.go_to(kFrameHeaderBytes + kIndexHeaderBytes);
  Index told;
  std::vector<Run>& runs = told.runs;
  std::uint64_t& pages = told.pages;
  const std::uint64_t most_pages = file.bytes() * kMostGrowth / page_bytes;
  const auto add = [&](const Run& run) {
    const bool ascends = runs.empty() || run.first > runs.back().first + (runs.back().count - 1);
    if (run.count == 0 || run.count - 1 > UINT64_MAX - run.first || !ascends)
      file.damaged("its runs of pages are impossible");
    if (run.count > most_pages - pages) file.damaged("it claims more pages than its size can hold");
    pages += run.count;
    if (options.page_count != 0 &&
        (run.first >= options.page_count || run.count > options.page_count - run.first))
      throw Error(Status::kInvalidOption,
                  fmt::format("'{}' has pages up to {}; the store has numbers below {}", file.path(),
                              run.first + (run.count - 1), options.page_count));
    runs.push_back(run);
  };
  read_index_bytes(file, run_count * kIndexRunBytes, [&](std::span<const std::byte> piece) {
    for (std::size_t at = 0; at < piece.size(); at += kIndexRunBytes)
      add({load_le64(piece.data() + at), load_le64(piece.data() + at + 8)});
  });
  // A page takes at least its entry and a word.
  constexpr std::uint64_t kLeastPageBytes = 16;
  if (options.budget_bytes != 0 && pages > options.budget_bytes / kLeastPageBytes)
    throw Error(Status::kMemoryLimit, fmt::format("'{}' has {} pages; the budget is {} bytes", file.path(),
                                                  pages, options.budget_bytes));
  const std::uint64_t pieces = piece_count(pages, page_bytes);
  if (rest_bytes != run_count * kIndexRunBytes + pieces * kChecksumBytes)
    file.damaged("its number of checksums is impossible");
  read_index_bytes(file, pieces * kChecksumBytes, [&](std::span<const std::byte> piece) {
    for (std::size_t at = 0; at < piece.size(); at += kChecksumBytes)
      told.piece_checksums.push_back(load_le32(piece.data() + at));
  });
  file.go_to(kFrameHeaderBytes + index_bytes);
  return told;
}

}  // namespace

void PageStore::save(const std::string& path) const {
  const std::vector<std::uint64_t> pages = numbers();
  const std::vector<Run> runs = runs_of(pages);
  const std::uint64_t index_bytes = kIndexHeaderBytes + runs.size() * kIndexRunBytes +
                                    piece_count(pages.size(), page_bytes()) * kChecksumBytes + kChecksumBytes;
  if (index_bytes > UINT32_MAX)
    throw Error(Status::kUnsupportedFeature,
                fmt::format("{} runs of pages are more than a file of pages can hold", runs.size()));
  std::vector<std::byte> head;
  head.reserve(kFrameHeaderBytes + index_bytes);
  append32(head, kIndexMagic);
  append32(head, static_cast<std::uint32_t>(index_bytes));
  for (const char letter : kName) head.push_back(static_cast<std::byte>(letter));
  append32(head, kVersion);
  append32(head, page_bytes());
  append64(head, runs.size());
  for (const Run& run : runs) {
    append64(head, run.first);
    append64(head, run.count);
  }

  NewFile file(path);
  std::uint64_t at = kFrameHeaderBytes + index_bytes;  // of the frame; the index is written later
  const auto write = [&](std::span<const std::byte> bytes) {
    file.write(at, bytes);
    at += bytes.size();
  };
  CompressOptions options;
  options.level = impl_->options.batch.level;
  options.content_checksum = true;
  options.content_bytes = std::uint64_t{pages.size()} * page_bytes();
  options.backend = "cpu";
  options.threads = impl_->options.batch.threads;
  Compressor compressor(options, write);
  std::vector<std::byte> piece(kPieceBytes);
  const std::size_t in_piece = piece.size() / page_bytes();
  for (std::size_t first = 0; first < pages.size(); first += in_piece) {
    const std::size_t count = std::min(in_piece, pages.size() - first);
    for (std::size_t i = 0; i < count; ++i)
      if (!get(pages[first + i], std::span(piece).subspan(i * page_bytes(), page_bytes())))
        throw Error(Status::kInputChanged,
                    fmt::format("page {} was discarded while pages were saved", pages[first + i]));
    const std::span<const std::byte> bytes = std::span<const std::byte>(piece).first(count * page_bytes());
    append32(head, checksum_of(Checksum::kXxh32, bytes));
    compressor.write(bytes);
  }
  compressor.finish();
  append32(head, checksum_of(Checksum::kXxh32, std::span<const std::byte>(head).subspan(kFrameHeaderBytes)));
  file.write(0, head);
  file.sync();
  file.complete();
  // Also syncs the folder, so that the file's name is stored.
  const std::string folder = path.find('/') == path.npos ? "." : path.substr(0, path.find_last_of('/') + 1);
  const Descriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() < 0 || fsync(descriptor.number()) != 0)
    throw system_error(Status::kWriteFailed,
                       fmt::format("the folder of '{}' cannot be written to the disk", path), errno);
}

void PageStore::load(const std::string& path) {
  InputFile file(path);
  const Index index = read_index(file, impl_->options);
  std::size_t run = 0;
  std::uint64_t in_run = 0, pieces = 0, bytes_left = index.pages * page_bytes();
  std::vector<std::byte> waiting;  // an incomplete piece
  waiting.reserve(kPieceBytes);
  const auto put_piece = [&] {
    if (checksum_of(Checksum::kXxh32, waiting) != index.piece_checksums[pieces++])
      throw Error(Status::kBlockChecksumMismatch,
                  fmt::format("'{}': MiB {} of its pages is damaged", path, pieces));
    for (std::size_t page = 0; page < waiting.size(); page += page_bytes()) {
      put(index.runs[run].first + in_run, std::span<const std::byte>(waiting).subspan(page, page_bytes()));
      if (++in_run < index.runs[run].count) continue;
      in_run = 0;
      ++run;
    }
    waiting.clear();
  };
  RestoreOptions options;
  options.format = Format::kLz4;
  options.backend = "cpu";
  options.threads = impl_->options.batch.threads;
  Decompressor decompressor(options, [&](std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (bytes_left == 0) file.damaged("it has more pages than its index lists");
      const std::size_t more =
          std::min<std::uint64_t>({kPieceBytes - waiting.size(), bytes.size(), bytes_left});
      waiting.insert(waiting.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(more));
      bytes = bytes.subspan(more);
      bytes_left -= more;
      if (waiting.size() == kPieceBytes || bytes_left == 0) put_piece();
    }
  });
  std::vector<std::byte> read(kPieceBytes);
  while (const std::size_t count = file.read(read))
    decompressor.write(std::span<const std::byte>(read).first(count));
  decompressor.finish();
  if (bytes_left != 0) file.damaged("it has fewer pages than its index lists");
}

}  // namespace hemstitch
