#include "gpu/device_parts.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "hemstitch/version.h"

namespace hemstitch {
namespace {

struct Named {
  std::string_view name, title;
  const bool& is_linked_in;
};

const Named& named(DevicePart part) {
  static const Named kNames[] = {{"cuda", "CUDA", cuda_is_linked_in},
                                 {"webgpu", "WebGPU", webgpu_is_linked_in}};
  return kNames[static_cast<std::size_t>(part)];
}

// The loader maps what a file's header announces without asking whether the file is that long, and reading there ends the
// process. Empty if all of it is there.
std::string missing_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "cannot be read";
  const auto size = static_cast<std::uint64_t>(file.tellg());
  const auto read = [&](std::uint64_t at, void* to, std::size_t bytes) {
    return at <= size && bytes <= size - at && file.seekg(static_cast<std::streamoff>(at)) &&
           file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  };
  constexpr const char* kCutOff = "is cut off";
  ElfW(Ehdr) header{};
  if (!read(0, &header, sizeof(header))) return kCutOff;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "is no shared object";
  const auto fits = [&](std::uint64_t begin, std::uint64_t bytes) {
    return begin <= size && bytes <= size - begin;
  };
  if (!fits(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize)) return kCutOff;
  if (header.e_phentsize != sizeof(ElfW(Phdr))) return "is no shared object";
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (!read(header.e_phoff, segments.data(), segments.size() * sizeof(ElfW(Phdr)))) return kCutOff;
  for (const ElfW(Phdr) & segment : segments)
    if (!fits(segment.p_offset, segment.p_filesz)) return kCutOff;
  return {};
}

// The file behind links, or empty where there is none, or the name is not absolute.
std::string resolved(const char* name) {
  if (name == nullptr || name[0] != '/') return {};
  const std::unique_ptr<char, void (*)(void*)> file(realpath(name, nullptr), std::free);
  if (file == nullptr && errno == ENOMEM) throw std::bad_alloc();
  return file == nullptr ? std::string() : std::string(file.get());
}

// Without the slash at its end.
std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string own_part_file(DevicePart part) {
  // A program that runs with more rights than its caller loads nothing.
  return getauxval(AT_SECURE) != 0 ? std::string() : find_part(own_folder(), named(part).name);
}

// Each is looked for, and loaded, once.
template <DevicePart part>
const std::string& file_of() {
  static const std::string file = own_part_file(part);
  return file;
}

const std::string& part_file(DevicePart part) {
  return part == DevicePart::kCuda ? file_of<DevicePart::kCuda>() : file_of<DevicePart::kWebgpu>();
}

LoadedPart load_own_part(DevicePart part) {
  const std::string& file = part_file(part);
  const Named& known = named(part);
  if (file.empty()) return {nullptr, fmt::format("this build of Hemstitch has no {}", known.title)};
  LoadedPart loaded = load_part(file, known.name);
  if (loaded.table != nullptr) loaded.table->take_advice(current_advice);
  return loaded;
}

template <DevicePart part>
const LoadedPart& loaded_part() {
  static const LoadedPart loaded = load_own_part(part);
  return loaded;
}

const LoadedPart& own_part(DevicePart part) {
  return part == DevicePart::kCuda ? loaded_part<DevicePart::kCuda>() : loaded_part<DevicePart::kWebgpu>();
}

}  // namespace

std::string_view part_name(DevicePart part) { return named(part).name; }

bool is_linked_in(DevicePart part) { return named(part).is_linked_in; }

bool is_there(DevicePart part) { return is_linked_in(part) || !part_file(part).empty(); }

// Paths are plain text here: where memory fails, libstdc++'s path::operator/ crashes.
std::string own_folder() {
  Dl_info here{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&own_folder), &here, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr)
    return {};
  // The program itself has no name there, and what dladdr() calls it is what its caller wrote.
  const bool is_program = map->l_name[0] == '\0';
  std::string file = resolved(is_program ? "/proc/self/exe" : map->l_name);
  // Without /proc: the file that was executed, if that is an absolute path.
  if (file.empty() && is_program) file = resolved(reinterpret_cast<const char*>(getauxval(AT_EXECFN)));
  return std::string(parent_of(file));
}

std::vector<std::string> python_packages(std::string_view folder) {
  std::vector<std::string> found;
  const std::string_view prefix = parent_of(folder);
  if (folder.substr(prefix.size()) != "/bin") return found;
  const std::string libraries = fmt::format("{}/lib", prefix);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(libraries.c_str()), closedir);
  if (entries == nullptr) {
    if (errno == ENOMEM) throw std::bad_alloc();
    return found;
  }
  while (const dirent* const entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with("python3")) found.push_back(fmt::format("{}/{}/site-packages", libraries, name));
  }
  return found;
}

std::string find_part(std::string_view folder, std::string_view name) {
  if (!folder.starts_with('/')) return {};
  const std::string file = fmt::format("/libhemstitch-{}.so." HEMSTITCH_SOVERSION, name);
  const std::string_view parent = parent_of(folder);
  std::vector<std::string> places = {std::string(folder), fmt::format("{}/hemstitch", folder),
                                     fmt::format("{}/lib/hemstitch", parent),
                                     fmt::format("{}/" HEMSTITCH_LIBDIR "/hemstitch", parent)};
  for (const std::string& packages : python_packages(folder)) places.push_back(packages + "/hemstitch");
  for (std::string& place : places) {
    place += file;
    if (access(place.c_str(), F_OK) == 0) return std::move(place);
  }
  return {};
}

LoadedPart load_part(const std::string& path, std::string_view name) {
  const auto left_out = [&](std::string_view why) {
    return LoadedPart{nullptr, fmt::format("{} {}", path, why)};
  };
  if (const std::string missing = missing_bytes(path); !missing.empty())
    return left_out(fmt::format("{}; install it again", missing));
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return left_out(fmt::format("could not be loaded: {}", dlerror()));
  const auto* const table = static_cast<const PartTable*>(dlsym(handle, "hemstitch_part"));
  if (table == nullptr || table->mark != kPartMark || name != table->name)
    return left_out(fmt::format("is not Hemstitch's part for {}", name));
  if (std::string_view(table->release) != HEMSTITCH_VERSION_STRING)
    return left_out(fmt::format(
        "is of release {}, and this is " HEMSTITCH_VERSION_STRING "; install the same", table->release));
  if (std::string_view(table->contract) != part_contract())
    return left_out("is of another build of release " HEMSTITCH_VERSION_STRING
                    "; install those of one build");
  return {table, {}};
}

const std::string& part_failure(DevicePart part) { return own_part(part).reason; }

PartFunction part_function(DevicePart part, std::size_t index) {
  const LoadedPart& loaded = own_part(part);
  if (loaded.table == nullptr) throw Error(Status::kDeviceUnavailable, loaded.reason);
  return loaded.table->functions[index];
}

}  // namespace hemstitch
