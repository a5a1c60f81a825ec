// nbdkit-hemstitch-plugin: a compressed RAM disk for nbdkit(1). Its users read docs/ramdisk.md.
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "core/descriptor.hpp"
#include "core/status.hpp"
#include "disk.hpp"
#include "files/save/new_file.hpp"
#include "hemstitch/version.h"
#include "pages/page_table.hpp"

namespace {

using hemstitch::Status;

struct Settings {
  std::int64_t bytes = -1;
  hemstitch::PageStoreOptions store{.batch = {.backend = "cpu"}};
  std::string snapshot, statistics;
};
Settings settings;
std::unique_ptr<hemstitch::Disk> disk;

// The thread that writes the snapshot. Never destroyed, since nbdkit may call exit() while it runs.
std::thread* saver = nullptr;
std::shared_mutex changing_mutex;  // shared by requests that change the disk
std::atomic<bool> ends = false;    // no request may change the disk any more
bool is_saved = false;             // set by the thread before it ends

std::mutex statistics_mutex;
std::chrono::steady_clock::time_point statistics_written;

// The error that nbdkit passes on to the client: no space, no memory, or a request that cannot be done.
int error_of(Status status) {
  switch (status) {
    case Status::kMemoryLimit:
      return ENOSPC;
    case Status::kOutOfMemory:
      return ENOMEM;
    case Status::kInvalidOption:
      return EINVAL;
    default:
      return EIO;
  }
}

template <class Call>
int guarded(const Call& call) {
  try {
    call();
    return 0;
  } catch (const hemstitch::Error& error) {
    nbdkit_set_error(error_of(error.status()));
    // The operator of the server need not know that the disk is full, and there may be many such requests.
    if (error.status() == Status::kMemoryLimit)
      nbdkit_debug("%s", error.what());
    else
      nbdkit_error("%s", error.what());
  } catch (const std::bad_alloc&) {
    nbdkit_set_error(ENOMEM);
    nbdkit_error("no memory");
  } catch (const std::exception& error) {
    nbdkit_set_error(EIO);
    nbdkit_error("%s", error.what());
  }
  return -1;
}

void write_statistics() {
  if (settings.statistics.empty()) return;
  const hemstitch::PageStoreStatistics of = disk->store().statistics();
  const std::string text = fmt::format(
      "{{\"pages\": {}, \"same_filled\": {}, \"compressed\": {}, \"raw\": {}, \"kept_bytes\": {}, "
      "\"slot_bytes\": {}, "
      "\"bookkeeping_bytes\": {}, \"memory_bytes\": {}, \"fragmentation\": {:.4f}, \"puts\": {}, \"gets\": "
      "{}, "
      "\"misses\": {}, \"discards\": {}, \"refused\": {}, \"moved_pages\": {}, \"failed_pages\": {}, "
      "\"fallback_pages\": {}}}\n",
      of.pages, of.same_filled, of.compressed, of.raw, of.kept_bytes, of.slot_bytes, of.bookkeeping_bytes,
      of.memory_bytes, of.fragmentation(), of.puts, of.gets, of.misses, of.discards, of.refused,
      of.moved_pages, of.failed_pages, of.fallback_pages);
  hemstitch::NewFile file(settings.statistics);
  file.write(0, std::as_bytes(std::span(text)));
  file.complete();
}

// Made absolute, since nbdkit may change its working folder.
std::string absolute(const char* path) {
  char* const found = nbdkit_absolute_path(path);
  if (found == nullptr) throw std::bad_alloc();
  std::string name = found;
  std::free(found);
  return name;
}

int configure(const char* key_text, const char* value) {
  const std::string_view key = key_text;
  bool right = true;
  const int status = guarded([&] {
    int number = 0;
    if (key == "size") {
      settings.bytes = nbdkit_parse_size(value);
      right = settings.bytes >= 0;
    } else if (key == "budget") {
      const std::int64_t bytes = nbdkit_parse_size(value);
      settings.store.budget_bytes = static_cast<std::uint64_t>(bytes);
      right = bytes > 0;
      if (bytes == 0) nbdkit_error("budget=%s holds no page; leave it out if there is to be no limit", value);
    } else if (key == "page") {
      const std::int64_t bytes = nbdkit_parse_size(value);
      settings.store.batch.page_bytes =
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(bytes, 0, UINT32_MAX));
      right = bytes >= 0;
    } else if (key == "level") {
      right = nbdkit_parse_int("level", value, &number) == 0;
      settings.store.batch.level = number;
    } else if (key == "backend") {
      settings.store.batch.backend = value;
    } else if (key == "device") {
      settings.store.batch.device = value;
    } else if (key == "checksums" || key == "lock" || key == "prefault") {
      number = nbdkit_parse_bool(value);
      right = number >= 0;
      (key == "checksums" ? settings.store.checksums
       : key == "lock"    ? settings.store.lock_memory
                          : settings.store.prefault) = number == 1;
    } else if (key == "snapshot") {
      settings.snapshot = absolute(value);
    } else if (key == "statistics") {
      settings.statistics = absolute(value);
    } else {
      nbdkit_error(
          "there is no setting '%s'; choose one of: size, budget, page, level, backend, device, checksums, "
          "lock, prefault, "
          "snapshot and statistics",
          key_text);
      right = false;
    }
  });
  return right ? status : -1;
}

int configured() {
  const std::uint64_t page_bytes = settings.store.batch.page_bytes;
  const std::uint64_t most_bytes = hemstitch::FlatPageTable::kMostPages * page_bytes;
  if (settings.bytes < 0)
    nbdkit_error("the disk needs a size: size=10G");
  else if (settings.bytes == 0)
    nbdkit_error("a disk of size=0 holds nothing; give it a size: size=10G");
  else if (page_bytes != 0 && static_cast<std::uint64_t>(settings.bytes) > most_bytes)
    nbdkit_error("size=%lld is too large for pages of %u bytes, which make a disk of %llu bytes at most",
                 static_cast<long long>(settings.bytes), settings.store.batch.page_bytes,
                 static_cast<unsigned long long>(most_bytes));
  else
    return 0;
  return -1;
}

// Throws if the files cannot be written at the end, as far as that is known now. Leaves none behind.
void try_outputs() {
  for (const std::string& path : {settings.snapshot, settings.statistics})
    if (!path.empty()) hemstitch::NewFile tried(path);
}

std::unique_ptr<hemstitch::Disk> make_disk() {
  auto made = std::make_unique<hemstitch::Disk>(static_cast<std::uint64_t>(settings.bytes), settings.store);
  if (settings.snapshot.empty()) return made;
  if (access(settings.snapshot.c_str(), F_OK) != 0) {
    if (errno == ENOENT) return made;
    throw hemstitch::system_error(Status::kReadFailed,
                                  fmt::format("snapshot={} cannot be read", settings.snapshot), errno);
  }
  try {
    made->store().load(settings.snapshot);
  } catch (const hemstitch::Error& error) {  // which may tell only the place in the file
    throw std::runtime_error(fmt::format("snapshot={}: {}", settings.snapshot, error.what()));
  }
  return made;
}

// Makes the disk in a child process. Returns what went wrong, or an empty text.
std::string try_disk() {
  constexpr char kDone = '\n';  // the last byte from a child that did not die
  std::array<int, 2> ends_of_pipe{};
  if (pipe2(ends_of_pipe.data(), O_CLOEXEC) != 0)
    throw hemstitch::system_error(Status::kOutOfMemory, "the settings cannot be tried", errno);
  const hemstitch::Descriptor from(ends_of_pipe[0]);
  hemstitch::Descriptor to(ends_of_pipe[1]);
  const pid_t child = fork();
  if (child < 0) throw hemstitch::system_error(Status::kOutOfMemory, "the settings cannot be tried", errno);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::string told;
    try {
      make_disk().release();  // ends with the process
    } catch (const std::exception& error) {
      told = error.what();
    }
    told += kDone;
    _exit(::write(to.number(), told.data(), told.size()) < 0 ? 1 : 0);
  }
  to = hemstitch::Descriptor();
  std::string told;
  std::array<char, 4096> piece;
  for (ssize_t count = 1; count != 0;) {
    count = ::read(from.number(), piece.data(), piece.size());
    if (count > 0) told.append(piece.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  if (!told.ends_with(kDone)) return "the disk cannot be made: the process that tried it was killed";
  told.pop_back();
  return told;
}

// The last call of whose errors the user hears: next, nbdkit goes to the background. But neither the store's thread nor a
// device survives that fork, so the disk can only be made afterwards. To know here that this will succeed, with the snapshot
// and all settings, a child process does it first.
int get_ready() {
  std::string wrong;
  const int status = guarded([&] {
    try_outputs();
    wrong = try_disk();
  });
  if (status != 0 || wrong.empty()) return status;
  nbdkit_error("%s", wrong.c_str());
  return -1;
}

// Writes the snapshot as soon as nbdkit is told to end. It calls clean_up() only when all clients have gone, but does not tell
// them to go, and who ends a machine does not wait so long. From now on nbdkit refuses requests. So does the plugin, since some may
// be on their way from there to here. So what is written is the last state of the disk.
void save_at_end() {
  constexpr unsigned kLongSeconds = 1000000;
  while (nbdkit_nanosleep(kLongSeconds, 0) == 0 || errno != ESHUTDOWN) continue;
  ends = true;
  { const std::unique_lock all_have_ended(changing_mutex); }
  is_saved = guarded([&] { disk->store().save(settings.snapshot); }) == 0;
}

int after_fork() {
  return guarded([&] {
    try_outputs();  // once more: nbdkit may have changed its user
    disk = make_disk();
    if (!settings.snapshot.empty()) saver = new std::thread(save_at_end);
  });
}

// Called once all clients have gone.
void clean_up() {
  if (saver != nullptr) {
    nbdkit_shutdown();  // for `nbdkit -s`, which ends without being told to
    saver->join();
  }
  if (!disk) return;
  guarded([&] { write_statistics(); });
  disk.reset();
  // nbdkit would return 0, and this is the last that it calls.
  if (saver != nullptr && !is_saved) std::exit(EXIT_FAILURE);
}

template <class Change>
int change(const Change& make_change) {
  const std::shared_lock lock(changing_mutex);
  if (!ends) return guarded(make_change);
  nbdkit_set_error(ESHUTDOWN);
  return -1;
}

void* open_connection(int) { return NBDKIT_HANDLE_NOT_NEEDED; }
std::int64_t size_of(void*) { return settings.bytes; }
int yes(void*) { return 1; }
int native_fua(void*) { return NBDKIT_FUA_NATIVE; }
int native_cache(void*) { return NBDKIT_CACHE_NATIVE; }

int block_size(void*, std::uint32_t* minimum, std::uint32_t* preferred, std::uint32_t* maximum) {
  *minimum = 1;
  *preferred = settings.store.batch.page_bytes;
  *maximum = UINT32_MAX;
  return 0;
}

int read(void*, void* into, std::uint32_t count, std::uint64_t at, std::uint32_t) {
  return guarded([&] { disk->read(at, {static_cast<std::byte*>(into), count}); });
}

int write(void*, const void* bytes, std::uint32_t count, std::uint64_t at, std::uint32_t) {
  return change([&] { disk->write(at, {static_cast<const std::byte*>(bytes), count}); });
}

int zero(void*, std::uint32_t count, std::uint64_t at, std::uint32_t) {
  return change([&] { disk->zero(at, count); });
}

// Written data is in memory at once, and nowhere else, so there is nothing to flush.
int flush(void*, std::uint32_t) {
  return guarded([&] {
    const std::unique_lock lock(statistics_mutex, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!lock || now - statistics_written < std::chrono::seconds(1)) return;
    statistics_written = now;
    write_statistics();
  });
}

int cache(void*, std::uint32_t, std::uint64_t, std::uint32_t) { return 0; }

int extents(void*, std::uint32_t count, std::uint64_t at, std::uint32_t, nbdkit_extents* found) {
  bool right = true;
  const int status = guarded([&] {
    for (const hemstitch::Disk::Extent& extent : disk->extents(at, count)) {
      const std::uint32_t type = extent.is_data ? 0 : NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO;
      if (nbdkit_add_extent(found, extent.at, extent.bytes, type) != 0) right = false;
    }
  });
  return right ? status : -1;
}

nbdkit_plugin describe() {
  nbdkit_plugin plugin{};
  plugin.name = "hemstitch";
  plugin.version = HEMSTITCH_VERSION_STRING;
  plugin.longname = "Hemstitch compressed RAM disk";
  plugin.description = "A disk in memory, compressed page by page with LZ4";
  plugin.config = configure;
  plugin.config_complete = configured;
  plugin.config_help =
      "[size=]SIZE          (required) size of the disk\n"
      "budget=SIZE          memory that it may take; beyond that writes fail with ENOSPC\n"
      "page=SIZE            4096 to 65536: what is compressed at once\n"
      "level=1..12          1: fast\n"
      "backend=NAME         cpu (default), cuda, webgpu, auto\n"
      "device=NAME          which device of the backend\n"
      "checksums=BOOL       a checksum for each page, verified when it is read\n"
      "lock=BOOL            keep it out of swap\n"
      "prefault=BOOL        take the budget from the system at once\n"
      "snapshot=FILE        read when it starts, if there is one, and written when it ends\n"
      "statistics=FILE      written at flushes, once a second at most, and at the end";
  plugin.magic_config_key = "size";
  plugin.get_ready = get_ready;
  plugin.after_fork = after_fork;
  plugin.cleanup = clean_up;
  plugin.open = open_connection;
  plugin.get_size = size_of;
  plugin.can_multi_conn = yes;
  plugin.can_extents = yes;
  plugin.can_fast_zero = yes;
  plugin.can_fua = native_fua;
  plugin.can_cache = native_cache;
  plugin.block_size = block_size;
  plugin.pread = read;
  plugin.pwrite = write;
  plugin.trim = zero;
  plugin.zero = zero;
  plugin.flush = flush;
  plugin.cache = cache;
  plugin.extents = extents;
  return plugin;
}

nbdkit_plugin plugin = describe();

}  // namespace

NBDKIT_REGISTER_PLUGIN(plugin)
