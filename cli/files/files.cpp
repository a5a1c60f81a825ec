#include "cli/files/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "cli/files/output/disk_sync.hpp"
#include "cli/files/output/special_output.hpp"
#include "cli/files/output/temporary_files.hpp"
#include "cli/messages.hpp"
#include "cli/request.hpp"
#include "cli/signals.hpp"
#include "cli/waiting_streams.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"
#include "files/save/mapped_range.hpp"
#include "format/formats.hpp"
#include "pipeline/history.hpp"

namespace hemstitch::cli {
namespace {

// The unit of holes: the block size of common file systems. Writing shorter runs of zeros is cheaper than
// seeking over them.
constexpr std::size_t kHoleBytes = 4096;
constexpr std::size_t kReadBytes = 256 << 10;
// Shorter data is written without mapping. The second is what a thread copies at a time.
constexpr std::size_t kMappedFromBytes = std::size_t{8} << 20, kCopiedBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMostPassedBytes = std::uint64_t{1} << 30;  // before that, of a pipe or a device

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

std::string quoted(const FileName& file) { return fmt::format("'{}'", shown_name(file.path())); }

ToolError target_exists(const FileName& file) {
  return ToolError(fmt::format("{} exists (-f overwrites it, -o FILE gives another name)", quoted(file)));
}

ToolError target_is_input(const FileName& file) {
  return ToolError(fmt::format("{} is the input itself; give another output", quoted(file)));
}

}  // namespace

FileSource::FileSource(FileName file) : file_(std::move(file)) {
  // O_NONBLOCK, so that a pipe that took the name of a file in a folder does not block.
  const int flags = O_RDONLY | O_NOCTTY | (file_.is_argument ? 0 : O_NONBLOCK);
  const int number = is_standard_input() ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : file_.open(flags);
  if (number < 0 && errno == ELOOP && !file_.is_argument)
    throw ToolError("has become a link, and links in folders are not followed");
  if (number < 0) throw tool_error_from_errno("cannot be opened");
  descriptor_ = Descriptor(number);
  if (fstat(number, &status_) != 0) throw tool_error_from_errno("cannot be examined");
  if (!file_.is_argument && !is_regular()) throw ToolError("is no longer a regular file");
  // A size of 0 means nothing: files in /proc have it and are not empty.
  if (is_regular() && status_.st_size > 0) {
    if (is_standard_input()) begin_ = std::max<off_t>(lseek(number, 0, SEEK_CUR), 0);
    total_bytes_ = static_cast<std::uint64_t>(std::max<off_t>(status_.st_size - begin_, 0));
    if (*total_bytes_ > kReadBytes) posix_fadvise(number, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
}

// Returns what is there; waits for it.
std::size_t FileSource::read_descriptor(std::span<std::byte> into) const {
  if (into.empty()) return 0;
  for (;;) {
    const ssize_t count = ::read(descriptor_.number(), into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (!may_be_tried_again(descriptor_.number(), POLLIN))
      throw system_error(Status::kReadFailed, "reading failed", errno);
  }
}

const FileAttributes& FileSource::attributes() const {
  if (!attributes_)
    attributes_ = is_regular() && !is_standard_input() ? FileAttributes(descriptor_.number(), status_)
                                                       : FileAttributes();
  return *attributes_;
}

bool FileSource::read_whole(std::span<std::byte> room) {
  ssize_t count;
  do count = ::read(descriptor_.number(), room.data(), room.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) throw system_error(Status::kReadFailed, "reading failed", errno);
  return static_cast<std::size_t>(count) == room.size() - 1;
}

std::span<const std::byte> FileSource::first_bytes() {
  return ahead_.look_at(kIdentifyBytes, [&](std::span<std::byte> to) { return read_descriptor(to); });
}

std::size_t FileSource::read_some(std::span<std::byte> into) {
  return ahead_.take(into, [&](std::span<std::byte> to) { return read_descriptor(to); });
}

bool FileSource::comes_within(std::chrono::milliseconds time) {
  return is_regular() || !ahead_.kept().empty() || is_readable_within(descriptor_, time);
}

// On the host of an H200, one thread copies 3.7 GB/s out of the page cache; sixteen copy 35.
std::size_t FileSource::read_in_parallel(std::span<std::byte> into) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const off_t begin = total_bytes_ ? lseek(descriptor_.number(), 0, SEEK_CUR) : -1;
  if (begin < 0) return read(into);
  const std::size_t kept = std::min(into.size(), ahead_.kept().size());
  read_some(into.first(kept));
  into = into.subspan(kept);
  std::vector<std::size_t> came((into.size() + kPieceBytes - 1) / kPieceBytes);
  run_in_parallel(came.size(), 1, [&](std::size_t i) {
    const std::span<std::byte> piece =
        into.subspan(i * kPieceBytes, std::min(kPieceBytes, into.size() - i * kPieceBytes));
    while (came[i] < piece.size()) {
      const ssize_t count = pread(descriptor_.number(), piece.data() + came[i], piece.size() - came[i],
                                  begin + static_cast<off_t>(i * kPieceBytes + came[i]));
      if (count == 0) break;
      if (count > 0)
        came[i] += static_cast<std::size_t>(count);
      else if (!may_be_tried_again(descriptor_.number(), POLLIN))
        throw system_error(Status::kReadFailed, "reading failed", errno);
    }
  });
  // If the file shrinks meanwhile, it ends where it ended first.
  std::size_t filled = 0;
  for (const std::size_t bytes : came) {
    filled += bytes;
    if (bytes < kPieceBytes) break;
  }
  if (lseek(descriptor_.number(), begin + static_cast<off_t>(filled), SEEK_SET) < 0)
    throw system_error(Status::kReadFailed, "seeking failed", errno);
  return kept + filled;
}

std::uint64_t FileSource::skip(std::uint64_t count) {
  const std::uint64_t kept = std::min<std::uint64_t>(count, ahead_.kept().size());
  ahead_.pass(static_cast<std::size_t>(kept));
  if (kept == count) return count;
  const off_t position = total_bytes_ ? lseek(descriptor_.number(), 0, SEEK_CUR) : -1;
  if (position < 0) return kept + Source::skip(count - kept);
  const auto rest = static_cast<std::uint64_t>(std::max<off_t>(status_.st_size - position, 0));
  const std::uint64_t sought = std::min(count - kept, rest);
  if (lseek(descriptor_.number(), static_cast<off_t>(sought), SEEK_CUR) < 0)
    throw system_error(Status::kReadFailed, "seeking failed", errno);
  ahead_.forget();
  return kept + sought;
}

bool FileSource::seek(std::uint64_t position) {
  if (!total_bytes_) return false;
  // A regular file can seek, so this is an error as one of reading is: what stands elsewhere is not what was asked for.
  if (lseek(descriptor_.number(), begin_ + static_cast<off_t>(position), SEEK_SET) < 0)
    throw system_error(Status::kReadFailed, "seeking failed", errno);
  ahead_.forget();
  return true;
}

std::unique_ptr<FileSink> FileSink::into(int descriptor) {
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->descriptor_ = Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (sink->descriptor_.number() < 0) throw tool_error_from_errno("the output cannot be used");
  return sink;
}

std::unique_ptr<FileSink> FileSink::into_own(int descriptor) {
  std::unique_ptr<FileSink> sink = into(descriptor);
  sink->is_own_ = true;
  return sink;
}

std::unique_ptr<FileSink> FileSink::create(const Target& target, const FileSource& source) {
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->target_ = target;
  if (target.file.is_argument) {
    if (auto special = open_special_output(target.file)) {
      sink->target_.sparse = false;  // it has a position to write at, and nothing to keep or to rename
      sink->descriptor_ = std::move(*special);
      if (sink->is_same_file(source.status())) throw target_is_input(target.file);
      return sink;
    }
  }
  sink->folder_ = target.file.folder->open();
  if (!sink->folder_) throw sink->cannot_be_created();
  // A file without a name is checked for an existing target only when it gets the name.
  if (target.unnamed && !target.overwrite && sink->open_unnamed(source)) return sink;
  sink->refuse_existing(source);
  sink->open_temporary();
  return sink;
}

// A link is replaced, not followed. But a link that the user named, and that leads to a folder or to the
// input, is a mistake.
void FileSink::refuse_existing(const FileSource& source) const {
  struct stat existing {};
  const char* name = target_.file.name.c_str();
  if (fstatat(folder_->number(), name, &existing, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENAMETOOLONG)
      throw ToolError(
          fmt::format("{} is too long a name here (-o FILE gives another)", quoted(target_.file)));
    return;
  }
  const bool is_link = S_ISLNK(existing.st_mode);
  const bool is_file = is_link || S_ISREG(existing.st_mode);
  struct stat behind {};
  if (is_link && target_.file.is_argument && fstatat(folder_->number(), name, &behind, 0) == 0)
    existing = behind;
  if (existing.st_dev == source.status().st_dev && existing.st_ino == source.status().st_ino)
    throw target_is_input(target_.file);
  if (S_ISDIR(existing.st_mode))
    throw ToolError(fmt::format("{} is a folder; give another output", quoted(target_.file)));
  if (!is_file)
    throw ToolError(fmt::format("{} is not a regular file; give another output", quoted(target_.file)));
  if (!target_.overwrite) throw target_exists(target_.file);
}

ToolError FileSink::cannot_be_created() const {
  return tool_error_from_errno(fmt::format("{} cannot be created", quoted(target_.file)));
}

// Nobody else can open a file without a name, so it may have its final mode from the beginning.
bool FileSink::open_unnamed(const FileSource& source) {
#ifdef O_TMPFILE
  // It gets its name through the name of its descriptor in /proc.
  static const bool can_be_named = access("/proc/self/fd", X_OK) == 0;
  if (!can_be_named) return false;
  const int number =
      openat(folder_->number(), ".", O_RDWR | O_TMPFILE | O_CLOEXEC, source.attributes().creation_mode());
  if (number < 0) return false;
  descriptor_ = Descriptor(number);
  unnamed_ = true;
#endif
  return unnamed_;
}

void FileSink::open_temporary() {
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  const auto lock = unfinished.lock();
  int number = -1;
  do {
    temporary_name_ = new_temporary_name();
    number = openat(folder_->number(), temporary_name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
  } while (number < 0 && errno == EEXIST);
  if (number < 0) {
    temporary_name_.clear();
    throw cannot_be_created();
  }
  descriptor_ = Descriptor(number);
  mark_in_use(number);
  unfinished.add(folder_->number(), temporary_name_);
}

FileSink::~FileSink() {
  if (temporary_name_.empty()) return;
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  const auto lock = unfinished.lock();
  unlinkat(folder_->number(), temporary_name_.c_str(), 0);
  unfinished.forget(folder_->number(), temporary_name_);
}

void FileSink::write(std::span<const std::byte> bytes) {
  put(bytes, [this](std::span<const std::byte> run) { write_all(run); });
}

void FileSink::write_in_parallel(std::span<const std::byte> bytes) {
  put(bytes, [this](std::span<const std::byte> run) { write_mapped(run); });
}

template <class WriteRun>
void FileSink::put(std::span<const std::byte> bytes, const WriteRun& write_run) {
  if (target_.sparse)
    write_with_holes(bytes, write_run);
  else
    write_run(bytes);
  position_ += bytes.size();
}

// Seeks over aligned units of zeros; the bytes between them are written in one call.
template <class WriteRun>
void FileSink::write_with_holes(std::span<const std::byte> bytes, const WriteRun& write_run) {
  std::uint64_t at = position_;
  while (!bytes.empty()) {
    std::size_t data_bytes = 0, zero_bytes = 0;
    while (data_bytes + zero_bytes < bytes.size()) {
      const std::size_t done = data_bytes + zero_bytes;
      const std::size_t unit =
          std::min<std::size_t>(bytes.size() - done, kHoleBytes - (at + done) % kHoleBytes);
      if (is_zero(bytes.subspan(done, unit)))
        zero_bytes += unit;
      else if (zero_bytes > 0)
        break;
      else
        data_bytes += unit;
    }
    if (data_bytes > 0) {
      if (hole_bytes_ > 0 && lseek(descriptor_.number(), static_cast<off_t>(hole_bytes_), SEEK_CUR) < 0)
        throw system_error(Status::kWriteFailed, "seeking failed", errno);
      hole_bytes_ = 0;
      write_run(bytes.first(data_bytes));
    }
    hole_bytes_ += zero_bytes;
    at += data_bytes + zero_bytes;
    bytes = bytes.subspan(data_bytes + zero_bytes);
  }
}

void FileSink::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_.number(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EPIPE && closed_pipe_is_fatal()) {
      end_by_signal(SIGPIPE);
    } else if (!may_be_tried_again(descriptor_.number(), POLLOUT)) {
      throw system_error(Status::kWriteFailed, "writing failed", errno);
    }
  }
}

bool FileSink::replace_beginning(std::span<const std::byte> bytes) {
  const int number = descriptor_.number();
  struct stat status {};
  // In a file that is opened for appending, pwrite() appends too.
  if (fstat(number, &status) != 0 || !S_ISREG(status.st_mode) || (fcntl(number, F_GETFL) & O_APPEND) != 0)
    return false;
  // Standard output may have begun in the middle of its file.
  const off_t begin = lseek(number, 0, SEEK_CUR) - static_cast<off_t>(position_ - hole_bytes_);
  if (begin < 0) return false;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        pwrite(number, bytes.data() + done, bytes.size() - done, begin + static_cast<off_t>(done));
    if (count >= 0)
      done += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      throw system_error(Status::kWriteFailed, "writing failed", errno);
  }
  return true;
}

// Writes to mapped memory with all threads of the caller's arena, if the file can be mapped. Only a file that
// nobody else may open: whoever cuts a mapped file ends the processes that write to it.
void FileSink::write_mapped(std::span<const std::byte> bytes) {
  const bool is_ours = is_own_ || !temporary_name_.empty();
  const off_t begin =
      is_ours && bytes.size() >= kMappedFromBytes ? lseek(descriptor_.number(), 0, SEEK_CUR) : -1;
  if (begin < 0) return write_all(bytes);
  const auto range = MappedRange::of(descriptor_.number(), static_cast<std::uint64_t>(begin), bytes.size());
  if (!range) return write_all(bytes);
  run_in_parallel((bytes.size() + kCopiedBytes - 1) / kCopiedBytes, 1, [&](std::size_t i) {
    const std::size_t at = i * kCopiedBytes;
    std::memcpy(range->bytes().data() + at, bytes.data() + at, std::min(kCopiedBytes, bytes.size() - at));
  });
  if (lseek(descriptor_.number(), begin + static_cast<off_t>(bytes.size()), SEEK_SET) < 0)
    throw system_error(Status::kWriteFailed, "seeking failed", errno);
}

std::optional<std::string> FileSink::complete(const FileSource& source) {
  if (hole_bytes_ > 0 && ftruncate(descriptor_.number(), static_cast<off_t>(position_)) != 0)
    throw tool_error_from_errno("setting the size failed");
  std::optional<std::string> lost;
  if (takes_a_name()) lost = source.attributes().give_to(descriptor_.number());
  if (target_.sync) sync_descriptor(descriptor_.number());
  if (unnamed_) name_unnamed(source);
  // This keeps the lock of a temporary file until it has its name.
  const Descriptor in_use(temporary_name_.empty() ? -1 : fcntl(descriptor_.number(), F_DUPFD_CLOEXEC, 0));
  // Some file systems report a full disk only here.
  if (close(descriptor_.release()) != 0 && errno != EINTR) throw tool_error_from_errno("closing failed");
  if (!temporary_name_.empty()) rename_temporary();
  if (target_.sync) sync_folder(folder_->number());
  return lost;
}

void FileSink::rename_temporary() {
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  const auto lock = unfinished.lock();
  const int folder = folder_->number();
  const char* from = temporary_name_.c_str();
  const char* to = target_.file.name.c_str();
  // Without `overwrite`, a file that meanwhile took the target's name is not overwritten, if the system
  // supports that.
  int result = target_.overwrite ? renameat(folder, from, folder, to)
                                 : renameat2(folder, from, folder, to, RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) result = renameat(folder, from, folder, to);
  if (result != 0 && errno == EEXIST) throw target_exists(target_.file);
  if (result != 0)
    throw tool_error_from_errno(
        fmt::format("{} cannot be renamed from its temporary name", quoted(target_.file)));
  unfinished.forget(folder, temporary_name_);
  temporary_name_.clear();
}

void FileSink::name_unnamed(const FileSource& source) {
  const char* to = target_.file.name.c_str();
  int result = linkat(descriptor_.number(), "", folder_->number(), to, AT_EMPTY_PATH);
  if (result != 0 && errno != EEXIST)  // older systems allow this only to root
    result = linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", descriptor_.number()).c_str(),
                    folder_->number(), to, AT_SYMLINK_FOLLOW);
  if (result == 0) return;
  const int error = errno;
  if (error == EEXIST) refuse_existing(source);
  errno = error;
  throw tool_error_from_errno(
      fmt::format("{} cannot be renamed from its temporary name", quoted(target_.file)));
}

bool FileSink::is_same_file(const struct stat& other) const {
  struct stat own {};
  return fstat(descriptor_.number(), &own) == 0 && S_ISREG(own.st_mode) && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

namespace {

std::vector<std::byte> read_to_end(FileSource& source, std::uint64_t expected_bytes) {
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  // One byte more than expected, so that the end is found without growing.
  std::size_t room = static_cast<std::size_t>(expected_bytes) + 1;
  do {
    bytes.resize(used + room);
    used += source.read(std::span(bytes).subspan(used));
    room = std::max(kReadBytes, used);
  } while (used == bytes.size());
  bytes.resize(used);
  return bytes;
}

}  // namespace

std::vector<std::byte> read_whole_file(const std::string& path) {
  FileSource source(path);
  return read_to_end(source, source.total_bytes().value_or(kReadBytes));
}

std::vector<std::byte> read_dictionary(const std::string& path, const FrameFormat* format,
                                       std::uint64_t memory_limit_bytes) {
  // Of a pipe or a device, for any format, and for one that needs all of it.
  constexpr std::size_t kMostOfAnyBytes = std::size_t{8} << 20, kMostOfOneBytes = std::size_t{128} << 20;
  try {
    FileSource source(path);
    const std::uint64_t total = source.total_bytes().value_or(0);
    std::optional<std::size_t> most_bytes;
    if (format != nullptr) most_bytes = format->most_dictionary_bytes();
    std::size_t used_bytes = most_bytes.value_or(
        format != nullptr ? format->history_bytes() : FormatTable::instance().most_history_bytes());
    if (total == 0) used_bytes = std::min(used_bytes, format == nullptr ? kMostOfAnyBytes : kMostOfOneBytes);
    if (most_bytes) most_bytes = used_bytes;
    if (memory_limit_bytes != 0 && std::min<std::uint64_t>(total, used_bytes) > memory_limit_bytes)
      throw ToolError(
          fmt::format("has {} bytes; --memory allows {}{}", total, memory_limit_bytes,
                      format == nullptr ? " (with --format, a format may need its end only)" : ""));
    if (total > used_bytes && !most_bytes) source.skip(total - used_bytes);
    // Of a pipe or a device only the end is kept.
    std::vector<std::byte> dictionary, piece(std::size_t{64} << 10);
    std::uint64_t passed = 0;
    while (const std::size_t bytes = source.read(piece)) {
      passed += bytes;
      if (most_bytes && std::max(passed, total) > *most_bytes)
        throw ToolError(
            fmt::format("has {} bytes{}; this format takes at most {}, since it needs all of them",
                        std::max(passed, total), total == 0 ? " or more" : "", *most_bytes));
      if (total == 0 && passed > kMostPassedBytes)
        throw ToolError(fmt::format("has no end within {}G; only its last {}K would be used (name a file)",
                                    kMostPassedBytes >> 30, used_bytes >> 10));
      append_history(dictionary, std::span(piece).first(bytes), used_bytes);
    }
    if (dictionary.empty()) throw ToolError("empty, so no dictionary");
    return dictionary;
  } catch (const std::runtime_error& error) {
    throw ToolError(fmt::format("-D {}: {}", shown_name(path), error.what()));
  }
}

RestoreOptions options_to_restore(RestoreOptions options, FileSource& source) {
  const DataIdentity identity = identify_data(source.first_bytes());
  if (options.format || identity.kind == DataKind::kFrame) return options;
  const FrameFormat* const format = format_of_name(source.file().name);
  if (format == nullptr || format->is_told_by_content() || identity.kind == DataKind::kEmpty)
    refuse_foreign(identity);
  else
    options.format = format->id();
  return options;
}

void refuse_foreign(const DataIdentity& identity) {
  switch (identity.kind) {
    case DataKind::kFrame:
      return;
    case DataKind::kForeign:
      throw ToolError(fmt::format("{} data: use {}", identity.foreign_name, identity.foreign_tool));
    case DataKind::kEmpty:
      throw ToolError("empty, so nothing to restore (get a complete copy)");
    case DataKind::kUnknown:
      if (!identity.possible_format.empty())
        throw ToolError(fmt::format("byte 0: unknown format (if it is {0}, say so with --format {0})",
                                    identity.possible_format));
      throw ToolError("byte 0: unknown format (check that this is compressed data)");
  }
}

}  // namespace hemstitch::cli
