// Preloaded into the tool (LD_PRELOAD): logs its calls to the file system, in order, and makes things happen
// in between.
//
// HEMSTITCH_WATCH_LOG=FILE           a line for each call that syncs, names or removes a file, and for each
//                                    that gives it attributes, with its mode at that moment
// HEMSTITCH_WATCH_AT="CALL COMMAND"  runs COMMAND before the first such call
// HEMSTITCH_WATCH_FAIL="CALL ERRNO"  such calls fail, with a number of errno; "lease" is fcntl(F_SETLEASE)
// HEMSTITCH_WATCH_SECONDS=1          files have times in whole seconds, as on old file systems
// HEMSTITCH_WATCH_BYTES=N            files that are not empty seem to have this size, as if they grew or shrank
//                                    just afterwards
// HEMSTITCH_WATCH_COUNT=FILE         at the end, how many calls of read() and write() there were
// HEMSTITCH_WATCH_FILE_SYSTEM=N      statfs()'s number of the file system, in hexadecimal
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The rest of the variable's value after "NAME "; null if it is for another call.
const char* setting_of(const char* variable, const char* name) {
  const char* const value = std::getenv(variable);
  const std::size_t length = std::strlen(name);
  return value != nullptr && std::strncmp(value, name, length) == 0 && value[length] == ' '
             ? value + length + 1
             : nullptr;
}

std::string shown(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  return std::strncmp(name, ".hemstitch-", 11) == 0 ? "TEMPORARY" : name;
}

// True if the call must fail; errno is then set.
bool watch(const char* call, const std::string& what) {
  if (const char* const path = std::getenv("HEMSTITCH_WATCH_LOG")) {
    const std::string line = std::string(call) + ' ' + what + '\n';
    const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0 || write(log, line.data(), line.size()) < 0) std::abort();
    close(log);
  }
  static std::atomic<bool> ran{false};
  if (const char* const command = setting_of("HEMSTITCH_WATCH_AT", call); command && !ran.exchange(true)) {
    const std::string plain = std::string("unset LD_PRELOAD; ") + command;
    if (std::system(plain.c_str()) != 0) std::abort();
  }
  const char* const error = setting_of("HEMSTITCH_WATCH_FAIL", call);
  if (error != nullptr) errno = std::atoi(error);
  return error != nullptr;
}

std::string kind_of(int number) {
  struct stat status {};
  return fstat(number, &status) == 0 && S_ISDIR(status.st_mode) ? "FOLDER" : "FILE";
}

// The mode of the file before it is changed.
std::string mode_of(int number) {
  struct stat status {};
  fstat(number, &status);
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%o", status.st_mode & 07777);
  return text.data();
}

// What is told of a file: what the system says, but for times and sizes that shall be others.
int told(int result, struct stat* status) {
  if (result != 0) return result;
  if (std::getenv("HEMSTITCH_WATCH_SECONDS") != nullptr)
    for (timespec* time : {&status->st_atim, &status->st_mtim, &status->st_ctim}) time->tv_nsec = 0;
  if (const char* const bytes = std::getenv("HEMSTITCH_WATCH_BYTES"))
    if (S_ISREG(status->st_mode) && status->st_size > 0) status->st_size = std::atol(bytes);
  return result;
}

// Written to the file when the process ends.
struct Counts {
  ~Counts() {
    const char* const path = std::getenv("HEMSTITCH_WATCH_COUNT");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "%lu %lu\n", reads.load(), writes.load());
    std::fclose(file);
  }
  std::atomic<unsigned long> reads{0}, writes{0};
} counts;

}  // namespace

// The C library declares some of these functions with attributes of its own.
#pragma GCC visibility push(default)
extern "C" {

ssize_t read(int number, void* to, std::size_t bytes) {
  static auto* const call = real(&read, "read");
  ++counts.reads;
  return call(number, to, bytes);
}

ssize_t write(int number, const void* from, std::size_t bytes) {
  static auto* const call = real(&write, "write");
  ++counts.writes;
  return call(number, from, bytes);
}

int fsync(int number) {
  static auto* const call = real(&fsync, "fsync");
  return watch("fsync", kind_of(number)) ? -1 : call(number);
}

int syncfs(int number) noexcept {
  static auto* const call = real(&syncfs, "syncfs");
  return watch("syncfs", kind_of(number)) ? -1 : call(number);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const call = real(&linkat, "linkat");
  return watch("linkat", shown(to)) ? -1 : call(from_folder, from, to_folder, to, flags);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  static auto* const call = real(&renameat2, "renameat2");
  return watch("renameat2", shown(from) + ' ' + shown(to)) ? -1
                                                           : call(from_folder, from, to_folder, to, flags);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const call = real(&rename, "rename");
  return watch("rename", shown(from) + ' ' + shown(to)) ? -1 : call(from, to);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const call = real(&unlinkat, "unlinkat");
  return watch("unlinkat", shown(path)) ? -1 : call(folder, path, flags);
}

int unlink(const char* path) noexcept {
  static auto* const call = real(&unlink, "unlink");
  return watch("unlink", shown(path)) ? -1 : call(path);
}

int fchown(int number, uid_t owner, gid_t group) noexcept {
  static auto* const call = real(&fchown, "fchown");
  return watch("fchown", mode_of(number)) ? -1 : call(number, owner, group);
}

int fchmod(int number, mode_t mode) noexcept {
  static auto* const call = real(&fchmod, "fchmod");
  return watch("fchmod", mode_of(number)) ? -1 : call(number, mode);
}

int fsetxattr(int number, const char* name, const void* value, std::size_t bytes, int flags) noexcept {
  static auto* const call = real(&fsetxattr, "fsetxattr");
  return watch("fsetxattr", mode_of(number) + ' ' + name) ? -1 : call(number, name, value, bytes, flags);
}

int fcntl(int number, int command, ...) {
  static auto* const call = real(&fcntl, "fcntl");
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (command == F_SETLEASE && setting_of("HEMSTITCH_WATCH_FAIL", "lease") != nullptr) {
    errno = std::atoi(setting_of("HEMSTITCH_WATCH_FAIL", "lease"));
    return -1;
  }
  return call(number, command, argument);
}

int fstat(int number, struct stat* status) noexcept {
  static auto* const call = real(&fstat, "fstat");
  return told(call(number, status), status);
}

int stat(const char* path, struct stat* status) noexcept {
  static auto* const call = real(static_cast<int (*)(const char*, struct stat*)>(&stat), "stat");
  return told(call(path, status), status);
}

int lstat(const char* path, struct stat* status) noexcept {
  static auto* const call = real(&lstat, "lstat");
  return told(call(path, status), status);
}

int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
  static auto* const call = real(&fstatat, "fstatat");
  return told(call(folder, path, status, flags), status);
}

int fstatfs(int number, struct statfs* file_system) noexcept {
  static auto* const call = real(&fstatfs, "fstatfs");
  const int result = call(number, file_system);
  if (const char* const type = std::getenv("HEMSTITCH_WATCH_FILE_SYSTEM"))
    file_system->f_type = static_cast<decltype(file_system->f_type)>(std::strtoul(type, nullptr, 16));
  return result;
}
}
#pragma GCC visibility pop
