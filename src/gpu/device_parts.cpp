#include "gpu/device_parts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstring>
#include <fstream>
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

std::string own_part_file(DevicePart part) {
  // A program that runs with more rights than its caller loads nothing.
  return getauxval(AT_SECURE) != 0 ? std::string() : find_part(own_folder(), named(part).name);
}

const std::string& part_file(DevicePart part) {
  switch (part) {
    case DevicePart::kCuda: {
      static const std::string file = own_part_file(DevicePart::kCuda);
      return file;
    }
    case DevicePart::kWebgpu:
      break;
  }
  static const std::string file = own_part_file(DevicePart::kWebgpu);
  return file;
}

LoadedPart load_own_part(DevicePart part) {
  const std::string& file = part_file(part);
  const Named& known = named(part);
  if (file.empty()) return {nullptr, fmt::format("this build of Hemstitch has no {}", known.title)};
  LoadedPart loaded = load_part(file, known.name);
  if (loaded.table != nullptr) loaded.table->take_advice(current_advice);
  return loaded;
}

const LoadedPart& own_part(DevicePart part) {
  switch (part) {
    case DevicePart::kCuda: {
      static const LoadedPart loaded = load_own_part(DevicePart::kCuda);
      return loaded;
    }
    case DevicePart::kWebgpu:
      break;
  }
  static const LoadedPart loaded = load_own_part(DevicePart::kWebgpu);
  return loaded;
}

}  // namespace

std::string_view part_name(DevicePart part) { return named(part).name; }

bool is_linked_in(DevicePart part) { return named(part).is_linked_in; }

bool is_there(DevicePart part) { return is_linked_in(part) || !part_file(part).empty(); }

std::filesystem::path own_folder() {
  Dl_info here{};
  link_map* map = nullptr;
  std::error_code failed;
  std::filesystem::path file;
  if (dladdr1(reinterpret_cast<const void*>(&own_folder), &here, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr)
    return {};
  // The program itself has no name there, and what dladdr() calls it is what its caller wrote.
  if (map->l_name[0] == '\0') {
    file = std::filesystem::read_symlink("/proc/self/exe", failed);
    // Without /proc: the file that was executed, if that is an absolute path.
    if (failed) file = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  } else {
    file = map->l_name;
  }
  if (!file.is_absolute()) return {};
  file = std::filesystem::canonical(file, failed);
  return failed ? std::filesystem::path() : file.parent_path();
}

std::vector<std::filesystem::path> python_packages(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  if (folder.filename() != "bin") return found;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(folder.parent_path() / "lib", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (entry->path().filename().string().starts_with("python3"))
      found.push_back(entry->path() / "site-packages");
  }
  return found;
}

std::string find_part(const std::filesystem::path& folder, std::string_view name) {
  if (!folder.is_absolute()) return {};
  const std::string file = fmt::format("libhemstitch-{}.so." HEMSTITCH_SOVERSION, name);
  for (const char* sub : {"", "hemstitch", "../lib/hemstitch", "../" HEMSTITCH_LIBDIR "/hemstitch"}) {
    std::error_code failed;
    const std::filesystem::path path = (folder / sub).lexically_normal() / file;
    if (std::filesystem::exists(path, failed)) return path.string();
  }
  for (const std::filesystem::path& packages : python_packages(folder)) {
    std::error_code failed;
    const std::filesystem::path path = packages / "hemstitch" / file;
    if (std::filesystem::exists(path, failed)) return path.string();
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
