#include "cli/files/output/remove_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "cli/files/output/temporary_files.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"

namespace hemstitch::cli {
namespace {

// The unit of FAT, which is the coarsest. File systems that count seconds have stamps without nanoseconds.
constexpr std::chrono::nanoseconds kCoarseUnit = std::chrono::seconds(2);
constexpr auto kClockPoll = std::chrono::milliseconds(1);

std::chrono::nanoseconds nanoseconds_of(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool is_same_content(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         nanoseconds_of(a.st_mtim) == nanoseconds_of(b.st_mtim);
}

// The times of a file also change with its names: if several names of it were to be removed, all but the
// first would be kept.
bool is_unchanged(const struct stat& known, const struct stat& now) {
  return is_same_content(known, now) &&
         (known.st_nlink > 1 || nanoseconds_of(known.st_ctim) == nanoseconds_of(now.st_ctim));
}

// Network file systems refuse a lease for reasons of their protocol.
bool is_on_network(int number) {
  struct statfs file_system {};
  if (fstatfs(number, &file_system) != 0) return true;
  const auto type = static_cast<unsigned long>(file_system.f_type);
  return type == NFS_SUPER_MAGIC || type == SMB_SUPER_MAGIC || type == CIFS_SUPER_MAGIC ||
         type == SMB2_SUPER_MAGIC;
}

enum class Lease { kHeld, kRefusedToWriter, kNotToBeHad };

// The lease is given back when the descriptor is closed.
Lease take_lease(int number) {
  if (fcntl(number, F_SETLEASE, F_RDLCK) == 0) return Lease::kHeld;
  return errno == EAGAIN && !is_on_network(number) ? Lease::kRefusedToWriter : Lease::kNotToBeHad;
}

bool somebody_waits_for(int number) { return fcntl(number, F_GETLEASE) != F_RDLCK; }

// Does not overwrite another file, if the system supports that.
bool rename_in(int folder, const char* from, const char* to) {
  if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return true;
  return (errno == EINVAL || errno == ENOSYS) && renameat(folder, from, folder, to) == 0;
}

ToolError cannot_be_removed(const Request& request) {
  return tool_error_from_errno(request.action == Action::kCompress ? "compressed, but cannot be removed"
                                                                   : "restored, but cannot be removed");
}

constexpr const char* kChanged = "changed since it was read, so it is kept (-f does it again)";

}  // namespace

void await_later_stamps(const struct stat& status) {
  const std::chrono::nanoseconds changed = nanoseconds_of(status.st_ctim);
  const std::chrono::nanoseconds later = status.st_ctim.tv_nsec == 0 ? changed + kCoarseUnit : changed;
  for (;;) {
    timespec clock{};
    clock_gettime(CLOCK_REALTIME_COARSE, &clock);
    const std::chrono::nanoseconds now = nanoseconds_of(clock);
    // If the time is ahead of the clock, it is another machine's, or the clock was set back. Waiting does not
    // help.
    if (now > later || changed > now + kCoarseUnit) return;
    std::this_thread::sleep_for(kClockPoll);
  }
}

std::optional<std::string> remove_source(const Request& request, const FileSource& source) {
  const struct stat& known = source.status();
  if (known.st_nlink > 1 && !request.force)
    return fmt::format("has {} names (hard links), so it is kept (-f removes this one)", known.st_nlink);
  const FileName& name = source.file();
  const std::string other_name = new_temporary_name();
  const std::string last_name = name.name + ".kept";
  const char* const own = name.name.c_str();
  const char* const other = other_name.c_str();
  const OpenFolder open_folder = name.folder->open();
  if (!open_folder) throw cannot_be_removed(request);
  const int folder = open_folder->number();

  struct stat now {};
  if (fstatat(folder, own, &now, AT_SYMLINK_NOFOLLOW) != 0) throw cannot_be_removed(request);
  if (S_ISLNK(now.st_mode)) return "is a link, so the link and its target are kept";
  if (!is_unchanged(known, now)) return kChanged;
  const Descriptor file(openat(folder, own, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0) throw cannot_be_removed(request);
  const Lease lease = take_lease(file.number());
  if (lease == Lease::kRefusedToWriter) return "is open for writing elsewhere, so it is kept";
  if (fstat(file.number(), &now) != 0) throw cannot_be_removed(request);
  if (!is_unchanged(known, now)) return kChanged;

  mark_in_use(file.number());  // other processes now see a temporary file
  // Signals are delayed until the file has its name again, or was removed.
  const auto lock = UnfinishedFiles::instance().lock();
  if (!rename_in(folder, own, other)) throw cannot_be_removed(request);
  int error = 0;
  if (fstatat(folder, other, &now, AT_SYMLINK_NOFOLLOW) == 0 && is_same_content(known, now) &&
      !(lease == Lease::kHeld && somebody_waits_for(file.number()))) {
    if (unlinkat(folder, other, 0) == 0) return std::nullopt;
    error = errno;
  }
  if (!rename_in(folder, other, own)) {
    const bool has_last_name = rename_in(folder, other, last_name.c_str());
    throw ToolError(fmt::format("kept as '{}', since another file took its name meanwhile",
                                shown_name(name.folder->path_of(has_last_name ? last_name : other_name))));
  }
  if (error == 0) return kChanged;
  errno = error;
  throw cannot_be_removed(request);
}

}  // namespace hemstitch::cli
