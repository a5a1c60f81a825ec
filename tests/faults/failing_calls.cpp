// Preloaded into the tool (LD_PRELOAD): one of its system calls about files fails, does less than it was asked for, or takes long.
//
// HEMSTITCH_CALLS=FILE      gets a line for each call, its function's name, in order
// HEMSTITCH_FAULT="N KIND"  what happens in the call of that number, counted from 1: a number of errno; "short": it reads or
//                           writes half of what it was asked for; "late": it is made after some milliseconds. A "+" behind a number of
//                           errno: the later calls of the same function fail, too
//
// Not counted are calls on stderr, on the files above, and on the system's own files, which libraries read at their start.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kMostDescriptors = 1024;
constexpr useconds_t kLateMicroseconds = 20'000;

std::array<std::atomic<bool>, kMostDescriptors> ignored{};
std::atomic<long> count{0};

bool is_ignored(int number) {
  return number == STDERR_FILENO || number < 0 ||
         (number < kMostDescriptors && ignored[static_cast<std::size_t>(number)]);
}
bool is_ignored(const char* path) {
  for (const char* prefix : {"/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib"})
    if (std::strncmp(path, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

struct Fault {
  long number = 0;
  int error = 0;
  bool stays = false, less = false, late = false;
  std::atomic<const char*> function{nullptr};  // that of the call, once it was made
  int log = -1;

  Fault() {
    const char* const text = std::getenv("HEMSTITCH_FAULT");
    std::array<char, 16> kind{};
    if (text != nullptr && std::sscanf(text, "%ld %15s", &number, kind.data()) == 2) {
      less = std::strcmp(kind.data(), "short") == 0;
      late = std::strcmp(kind.data(), "late") == 0;
      error = std::atoi(kind.data());
      stays = kind[std::strlen(kind.data()) - 1] == '+';
    }
    if (const char* const path = std::getenv("HEMSTITCH_CALLS"))
      log = static_cast<int>(
          syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
};

Fault& fault() {
  static Fault one;
  return one;
}

enum class Meant { kNothing, kFails, kLess };

// Counts the call. kFails: errno is set.
Meant meant_for(const char* function) {
  Fault& planned = fault();
  const long number = ++count;
  if (planned.log >= 0) {
    std::array<char, 64> line{};
    const int bytes = std::snprintf(line.data(), line.size(), "%s\n", function);
    syscall(SYS_write, planned.log, line.data(), bytes);
  }
  if (number != planned.number) {
    const char* const failed = planned.function;
    if (!planned.stays || failed == nullptr || std::strcmp(failed, function) != 0) return Meant::kNothing;
  }
  planned.function = function;
  if (planned.late) usleep(kLateMicroseconds);
  if (planned.less) return Meant::kLess;
  errno = planned.error;
  return planned.error != 0 ? Meant::kFails : Meant::kNothing;
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::size_t some_of(std::size_t bytes, Meant meant) {
  return meant == Meant::kLess && bytes > 1 ? bytes / 2 : bytes;
}

int opened(int number, const char* path) {
  if (number >= 0 && number < kMostDescriptors) ignored[static_cast<std::size_t>(number)] = is_ignored(path);
  return number;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// A call that has nothing but a failure to it.
#define HEMSTITCH_FAILING(result, name, parameters, arguments, about, failure)       \
  result name parameters {                                                           \
    static auto* const call = real(static_cast<result(*) parameters>(&name), #name); \
    if (!is_ignored(about) && meant_for(#name) == Meant::kFails) return failure;     \
    return call arguments;                                                           \
  }

HEMSTITCH_FAILING(int, fsync, (int number), (number), number, -1)
HEMSTITCH_FAILING(int, syncfs, (int number) noexcept, (number), number, -1)
HEMSTITCH_FAILING(int, ftruncate, (int number, off_t bytes) noexcept, (number, bytes), number, -1)
HEMSTITCH_FAILING(int, posix_fallocate, (int number, off_t at, off_t bytes), (number, at, bytes), number,
                  errno)
HEMSTITCH_FAILING(off_t, lseek, (int number, off_t at, int whence) noexcept, (number, at, whence), number, -1)
HEMSTITCH_FAILING(int, fstat, (int number, struct stat* to) noexcept, (number, to), number, -1)
HEMSTITCH_FAILING(int, fstatat, (int folder, const char* path, struct stat* to, int flags) noexcept,
                  (folder, path, to, flags), path, -1)
HEMSTITCH_FAILING(int, stat, (const char* path, struct stat* to) noexcept, (path, to), path, -1)
HEMSTITCH_FAILING(int, lstat, (const char* path, struct stat* to) noexcept, (path, to), path, -1)
HEMSTITCH_FAILING(int, fchmod, (int number, mode_t mode) noexcept, (number, mode), number, -1)
HEMSTITCH_FAILING(int, fchown, (int number, uid_t owner, gid_t group) noexcept, (number, owner, group),
                  number, -1)
HEMSTITCH_FAILING(int, futimens, (int number, const timespec* times) noexcept, (number, times), number, -1)
HEMSTITCH_FAILING(ssize_t, fgetxattr, (int number, const char* name, void* to, std::size_t bytes) noexcept,
                  (number, name, to, bytes), number, -1)
HEMSTITCH_FAILING(ssize_t, flistxattr, (int number, char* to, std::size_t bytes) noexcept,
                  (number, to, bytes), number, -1)
HEMSTITCH_FAILING(int, fsetxattr,
                  (int number, const char* name, const void* value, std::size_t bytes, int flags) noexcept,
                  (number, name, value, bytes, flags), number, -1)
HEMSTITCH_FAILING(int, linkat, (int from, const char* old, int to, const char* path, int flags) noexcept,
                  (from, old, to, path, flags), path, -1)
HEMSTITCH_FAILING(int, rename, (const char* old, const char* path) noexcept, (old, path), path, -1)
HEMSTITCH_FAILING(int, renameat, (int from, const char* old, int to, const char* path) noexcept,
                  (from, old, to, path), path, -1)
HEMSTITCH_FAILING(int, renameat2,
                  (int from, const char* old, int to, const char* path, unsigned flags) noexcept,
                  (from, old, to, path, flags), path, -1)
HEMSTITCH_FAILING(int, unlink, (const char* path) noexcept, (path), path, -1)
HEMSTITCH_FAILING(int, unlinkat, (int folder, const char* path, int flags) noexcept, (folder, path, flags),
                  path, -1)
HEMSTITCH_FAILING(int, mkdir, (const char* path, mode_t mode) noexcept, (path, mode), path, -1)
HEMSTITCH_FAILING(int, mkdirat, (int folder, const char* path, mode_t mode) noexcept, (folder, path, mode),
                  path, -1)
HEMSTITCH_FAILING(DIR*, fdopendir, (int number), (number), number, nullptr)
HEMSTITCH_FAILING(int, flock, (int number, int what) noexcept, (number, what), number, -1)
HEMSTITCH_FAILING(int, poll, (pollfd * ones, nfds_t some, int milliseconds), (ones, some, milliseconds), 0,
                  -1)
HEMSTITCH_FAILING(void*, mmap,
                  (void* at, std::size_t bytes, int may, int flags, int number, off_t from) noexcept,
                  (at, bytes, may, flags, number, from), number, MAP_FAILED)
#undef HEMSTITCH_FAILING

// A call that may move fewer bytes than it was asked for.
#define HEMSTITCH_MOVING(name, parameters, arguments)                            \
  ssize_t name parameters {                                                      \
    static auto* const call = real(&name, #name);                                \
    const Meant meant = is_ignored(number) ? Meant::kNothing : meant_for(#name); \
    if (meant == Meant::kFails) return -1;                                       \
    return call arguments;                                                       \
  }
HEMSTITCH_MOVING(read, (int number, void* to, std::size_t bytes), (number, to, some_of(bytes, meant)))
HEMSTITCH_MOVING(pread, (int number, void* to, std::size_t bytes, off_t at),
                 (number, to, some_of(bytes, meant), at))
HEMSTITCH_MOVING(write, (int number, const void* from, std::size_t bytes),
                 (number, from, some_of(bytes, meant)))
HEMSTITCH_MOVING(pwrite, (int number, const void* from, std::size_t bytes, off_t at),
                 (number, from, some_of(bytes, meant), at))
HEMSTITCH_MOVING(readv, (int number, const iovec* to, int pieces),
                 (number, to, meant == Meant::kLess && pieces > 1 ? 1 : pieces))
#undef HEMSTITCH_MOVING

// It closes in any case, as on Linux.
int close(int number) {
  static auto* const call = real(&close, "close");
  const bool fails = !is_ignored(number) && meant_for("close") == Meant::kFails;
  const int error = errno, result = call(number);
  if (number >= 0 && number < kMostDescriptors) ignored[static_cast<std::size_t>(number)] = false;
  if (fails) errno = error;
  return fails ? -1 : result;
}

// It tells the end by null, too.
dirent* readdir(DIR* folder) {
  static auto* const call = real(&readdir, "readdir");
  if (is_ignored(dirfd(folder)) || meant_for("readdir") != Meant::kFails) return call(folder);
  return nullptr;
}

int open(const char* path, int flags, ...) {
  using Function = int(const char*, int, ...);
  static auto* const call = real(static_cast<Function*>(&open), "open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (!is_ignored(path) && meant_for("open") == Meant::kFails) return -1;
  return opened(call(path, flags, mode), path);
}

int openat(int folder, const char* path, int flags, ...) {
  using Function = int(int, const char*, int, ...);
  static auto* const call = real(static_cast<Function*>(&openat), "openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (!is_ignored(path) && meant_for("openat") == Meant::kFails) return -1;
  return opened(call(folder, path, flags, mode), path);
}

int fcntl(int number, int command, ...) {
  using Function = int(int, int, ...);
  static auto* const call = real(static_cast<Function*>(&fcntl), "fcntl");
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!is_ignored(number) && meant_for("fcntl") == Meant::kFails) return -1;
  return call(number, command, argument);
}
}
#pragma GCC visibility pop
