#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "arguments.hpp"
#include "core/status.hpp"
#include "messages.hpp"
#include "signals.hpp"

namespace hemstitch::cli {
namespace {

// The unit of holes: a block of the usual file systems. Shorter runs of zeros cost less written than sought
// over.
constexpr std::size_t kHoleBytes = 4096;
constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::uint64_t kDictionaryBytes = 64 * 1024;  // the reach of LZ4's offsets: the rest cannot be used
constexpr mode_t kPermissionBits = 0777;
constexpr mode_t kAllModeBits = 07777;

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

// Asked for once: asking changes it for a moment, for all threads.
mode_t creation_mask() {
  static const mode_t mask = [] {
    const mode_t asked = umask(0);
    umask(asked);
    return asked;
  }();
  return mask;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// A target that is a symbolic link is replaced where it points to; the link stays.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr), std::free);
  return resolved ? std::string(resolved.get()) : path;
}

ToolError target_exists(const std::string& path) {
  return ToolError(
      fmt::format("'{}' exists (-f overwrites it, -o FILE gives another name)", shown_name(path)));
}

}  // namespace

std::string compressed_name(const std::string& path) { return path + std::string(kOwnSuffix); }

bool has_own_suffix(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  return name.size() > kOwnSuffix.size() && name.ends_with(kOwnSuffix);
}

std::optional<std::string> restored_name(const std::string& path) {
  if (!has_own_suffix(path)) return std::nullopt;
  return path.substr(0, path.size() - kOwnSuffix.size());
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

int Descriptor::release() { return std::exchange(number_, -1); }

FileSource::FileSource(const std::string& path) : path_(path) {
  const int number = is_standard_input() ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) throw tool_error_from_errno("cannot be opened");
  descriptor_ = Descriptor(number);
  if (fstat(number, &status_) != 0) throw tool_error_from_errno("cannot be examined");
  // A size of 0 says nothing: files of /proc have it and are not empty.
  if (is_regular() && status_.st_size > 0) {
    if (is_standard_input()) begin_ = std::max<off_t>(lseek(number, 0, SEEK_CUR), 0);
    total_bytes_ = static_cast<std::uint64_t>(std::max<off_t>(status_.st_size - begin_, 0));
    if (*total_bytes_ > kReadBytes) posix_fadvise(number, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
}

bool FileSource::is_standard_input() const { return path_ == kStandardStream; }

std::size_t FileSource::read_descriptor(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t count = ::read(descriptor_.number(), into.data() + filled, into.size() - filled);
    if (count == 0) break;
    if (count > 0)
      filled += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      throw system_error(Status::kReadFailed, "reading failed", errno);
  }
  return filled;
}

bool FileSource::read_whole(std::span<std::byte> room) {
  ssize_t count;
  do count = ::read(descriptor_.number(), room.data(), room.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) throw system_error(Status::kReadFailed, "reading failed", errno);
  return static_cast<std::size_t>(count) == room.size() - 1;
}

std::span<const std::byte> FileSource::first_bytes() {
  if (!std::exchange(peeked_already_, true))
    peeked_ = std::span(first_bytes_).first(read_descriptor(std::span(first_bytes_)));
  return peeked_;
}

std::size_t FileSource::read(std::span<std::byte> into) {
  const std::size_t from_peeked = std::min(into.size(), peeked_.size());
  std::copy_n(peeked_.begin(), from_peeked, into.begin());
  peeked_ = peeked_.subspan(from_peeked);
  return from_peeked + read_descriptor(into.subspan(from_peeked));
}

std::uint64_t FileSource::skip(std::uint64_t count) {
  const std::uint64_t from_peeked = std::min<std::uint64_t>(count, peeked_.size());
  peeked_ = peeked_.subspan(static_cast<std::size_t>(from_peeked));
  const off_t position = total_bytes_ ? lseek(descriptor_.number(), 0, SEEK_CUR) : -1;
  if (position < 0) return from_peeked + Source::skip(count - from_peeked);
  const auto rest = static_cast<std::uint64_t>(std::max<off_t>(status_.st_size - position, 0));
  const std::uint64_t sought = std::min(count - from_peeked, rest);
  if (lseek(descriptor_.number(), static_cast<off_t>(sought), SEEK_CUR) < 0)
    throw system_error(Status::kReadFailed, "seeking failed", errno);
  return from_peeked + sought;
}

bool FileSource::seek(std::uint64_t position) {
  if (!total_bytes_ || lseek(descriptor_.number(), begin_ + static_cast<off_t>(position), SEEK_SET) < 0)
    return false;
  peeked_ = {};
  return true;
}

std::unique_ptr<FileSink> FileSink::standard_output() {
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->descriptor_ = Descriptor(dup(STDOUT_FILENO));
  if (sink->descriptor_.number() < 0) throw tool_error_from_errno("stdout cannot be used");
  return sink;
}

std::unique_ptr<FileSink> FileSink::create(const Target& target, const FileSource& source) {
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->target_ = target;
  // What has the target's name already, if anything, shows when that is to be taken.
  if (target.unnamed && !target.overwrite && sink->open_unnamed(source)) return sink;
  struct stat existing {};
  if (stat(target.path.c_str(), &existing) == 0) {
    sink->target_.path = behind_links(target.path);
    refuse_existing(target, existing, source);
    if (!S_ISREG(existing.st_mode)) {  // a device or a pipe: there is nothing to keep, and nothing to rename
      sink->target_.sparse = false;
      sink->descriptor_ = Descriptor(open(target.path.c_str(), O_WRONLY | O_CLOEXEC));
      if (sink->descriptor_.number() < 0)
        throw tool_error_from_errno(fmt::format("'{}' cannot be opened", shown_name(target.path)));
      return sink;
    }
  }
  sink->open_temporary();
  return sink;
}

void FileSink::refuse_existing(const Target& target, const struct stat& existing, const FileSource& source) {
  const std::string shown = shown_name(target.path);
  if (existing.st_dev == source.status().st_dev && existing.st_ino == source.status().st_ino)
    throw ToolError(fmt::format("'{}' is the input itself; give another output", shown));
  if (S_ISDIR(existing.st_mode)) throw ToolError(fmt::format("'{}' is a folder; give another output", shown));
  if (S_ISREG(existing.st_mode) && !target.overwrite) throw target_exists(target.path);
}

// A file without a name is nobody else's to open, so it may have its final mode from the beginning.
bool FileSink::open_unnamed(const FileSource& source) {
#ifdef O_TMPFILE
  // Its name is given through its descriptor's.
  static const bool can_be_named = access("/proc/self/fd", X_OK) == 0;
  if (!can_be_named) return false;
  const std::string folder = folder_of(target_.path);
  mode_ = source.status().st_mode & kPermissionBits & ~creation_mask();
  const int number = open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode_);
  if (number < 0) return false;
  descriptor_ = Descriptor(number);
  unnamed_ = true;
#endif
  return unnamed_;
}

// The name says nothing of the target's, so that it fits where the target's fits.
void FileSink::open_temporary() {
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  const auto lock = unfinished.lock();
  std::random_device random;
  int number = -1;
  do {
    temporary_path_ = fmt::format("{}.hemstitch-{:08x}", folder_of(target_.path), random());
    number = open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  } while (number < 0 && errno == EEXIST);
  if (number < 0) {
    temporary_path_.clear();
    throw tool_error_from_errno(fmt::format("'{}' cannot be created", shown_name(target_.path)));
  }
  descriptor_ = Descriptor(number);
  mode_ = S_IRUSR | S_IWUSR;
  unfinished.add(temporary_path_);
}

FileSink::~FileSink() {
  if (temporary_path_.empty()) return;
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  const auto lock = unfinished.lock();
  unlink(temporary_path_.c_str());
  unfinished.forget(temporary_path_);
}

void FileSink::write(std::span<const std::byte> bytes) {
  if (target_.sparse)
    write_with_holes(bytes);
  else
    write_all(bytes);
  position_ += bytes.size();
}

// Aligned units of zeros are sought over; what stands between them is written in one call.
void FileSink::write_with_holes(std::span<const std::byte> bytes) {
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
      write_all(bytes.first(data_bytes));
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
    } else if (errno != EINTR) {
      throw system_error(Status::kWriteFailed, "writing failed", errno);
    }
  }
}

std::optional<std::string> FileSink::complete(const FileSource& source) {
  if (hole_bytes_ > 0 && ftruncate(descriptor_.number(), static_cast<off_t>(position_)) != 0)
    throw tool_error_from_errno("setting the size failed");
  std::optional<std::string> lost;
  if (unnamed_ || !temporary_path_.empty()) lost = take_attributes(source);
  if (unnamed_) name_unnamed(source);
  // Some file systems report a full disk only here.
  if (close(descriptor_.release()) != 0 && errno != EINTR) throw tool_error_from_errno("closing failed");
  if (!temporary_path_.empty()) rename_temporary();
  return lost;
}

std::optional<std::string> FileSink::take_attributes(const FileSource& source) {
  const int number = descriptor_.number();
  const struct stat& status = source.status();
  const bool from_file = source.is_regular() && !source.is_standard_input();
  mode_t mode = 0666 & ~creation_mask();
  if (from_file) {
    // Only root may give files away. Set-user-id bits go with the owner or not at all.
    const bool same_owner = (status.st_uid == geteuid() && status.st_gid == getegid()) ||
                            fchown(number, status.st_uid, status.st_gid) == 0;
    mode = status.st_mode & (same_owner ? kAllModeBits : kPermissionBits);
  }
  if (mode != mode_ && fchmod(number, mode) != 0)
    return tool_error_from_errno("the mode could not be kept").what();
  const struct timespec times[] = {status.st_atim, status.st_mtim};
  if (from_file && futimens(number, times) != 0)
    return tool_error_from_errno("the time could not be kept").what();
  return std::nullopt;
}

void FileSink::rename_temporary() {
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  const auto lock = unfinished.lock();
  const char* from = temporary_path_.c_str();
  const char* to = target_.path.c_str();
  // A file that appeared under the target's name meanwhile is not overwritten unasked, where the system can
  // tell.
  int result =
      target_.overwrite ? rename(from, to) : renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) result = rename(from, to);
  if (result != 0 && errno == EEXIST) throw target_exists(target_.path);
  if (result != 0)
    throw tool_error_from_errno(fmt::format("'{}' cannot take its name", shown_name(target_.path)));
  unfinished.forget(temporary_path_);
  temporary_path_.clear();
}

void FileSink::name_unnamed(const FileSource& source) {
  const char* to = target_.path.c_str();
  int result = linkat(descriptor_.number(), "", AT_FDCWD, to, AT_EMPTY_PATH);
  if (result != 0 && errno != EEXIST)  // older systems allow that to root alone
    result = linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", descriptor_.number()).c_str(), AT_FDCWD, to,
                    AT_SYMLINK_FOLLOW);
  if (result == 0) return;
  const int error = errno;
  struct stat existing {};
  if (error == EEXIST && stat(to, &existing) == 0) refuse_existing(target_, existing, source);
  errno = error;
  throw tool_error_from_errno(fmt::format("'{}' cannot take its name", shown_name(target_.path)));
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
  // One byte more than expected, so that the end is seen without growing.
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

std::vector<std::byte> read_dictionary(const std::string& path) {
  try {
    FileSource source(path);
    const std::uint64_t total = source.total_bytes().value_or(0);
    if (total > kDictionaryBytes) source.skip(total - kDictionaryBytes);
    std::vector<std::byte> dictionary = read_to_end(source, kDictionaryBytes);
    if (dictionary.empty()) throw ToolError("empty, so no dictionary");
    return dictionary;
  } catch (const std::runtime_error& error) {
    throw ToolError(fmt::format("-D {}: {}", shown_name(path), error.what()));
  }
}

void refuse_foreign(const DataIdentity& identity) {
  switch (identity.kind) {
    case DataKind::kLz4Frame:
      return;
    case DataKind::kForeign:
      throw ToolError(fmt::format("{} data: use {}", identity.foreign_name, identity.foreign_tool));
    case DataKind::kEmpty:
      throw ToolError("empty, so nothing to restore (get a complete copy)");
    case DataKind::kUnknown:
      throw ToolError("byte 0: no format that Hemstitch knows (check that this is compressed data)");
  }
}

}  // namespace hemstitch::cli
