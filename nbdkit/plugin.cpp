// nbdkit-hemstitch-plugin: a compressed RAM disk for nbdkit(1). Its users read docs/ramdisk.md.
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "disk.hpp"
#include "files/new_file.hpp"
#include "hemstitch/version.h"

namespace {

using hemstitch::Status;

struct Settings {
  std::int64_t bytes = -1;
  hemstitch::PageStoreOptions store{.batch = {.backend = "cpu"}};
  std::string snapshot, statistics;
};
Settings settings;
std::unique_ptr<hemstitch::Disk> disk;
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
      right = bytes >= 0;
    } else if (key == "page") {
      const std::int64_t bytes = nbdkit_parse_size(value);
      settings.store.batch.page_bytes =
          bytes > hemstitch::kMaxPageBytes ? 0 : static_cast<std::uint32_t>(bytes);
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
  if (settings.bytes >= 0) return 0;
  nbdkit_error("the disk needs a size: size=10G");
  return -1;
}

// Threads do not survive the fork into the background. The store has one, so it is made afterwards.
int after_fork() {
  return guarded([&] {
    disk = std::make_unique<hemstitch::Disk>(static_cast<std::uint64_t>(settings.bytes), settings.store);
    if (!settings.snapshot.empty() && access(settings.snapshot.c_str(), F_OK) == 0)
      disk->store().load(settings.snapshot);
  });
}

// Called once all clients have gone.
void clean_up() {
  if (!disk) return;
  guarded([&] {
    if (!settings.snapshot.empty()) disk->store().save(settings.snapshot);
    write_statistics();
  });
  disk.reset();
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
  return guarded([&] { disk->write(at, {static_cast<const std::byte*>(bytes), count}); });
}

int zero(void*, std::uint32_t count, std::uint64_t at, std::uint32_t) {
  return guarded([&] { disk->zero(at, count); });
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
