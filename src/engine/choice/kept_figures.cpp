#include "engine/choice/kept_figures.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "core/descriptor.hpp"

namespace hemstitch {
namespace {

constexpr std::string_view kHead = "hemstitch figures 1", kEnd = "end";
constexpr const char* kFolderName = "hemstitch";
constexpr const char* kFileName = "figures";
constexpr std::size_t kMostFileBytes = 16384;

constexpr double kLeastRate = 1e-4, kMostRate = 1e5;  // GB/s
constexpr double kMostSeconds = 60;
constexpr double kMostPinnedBytes = 1e11;
constexpr unsigned kMostCores = 4096;

// A number of a row, and the limits of its value.
struct Number {
  double* value;
  double least, most;
};

std::vector<Number> numbers_of(HostFigures& host) {
  std::vector<Number> numbers;
  for (double* rate :
       {&host.read_gbps, &host.write_gbps, &host.copy_gbps, &host.to_device_gbps, &host.from_device_gbps})
    numbers.push_back({rate, kLeastRate, kMostRate});
  return numbers;
}

std::vector<Number> numbers_of(BackendFigures& figures) {
  std::vector<Number> numbers = {{&figures.start_seconds, 0, kMostSeconds},
                                 {&figures.pin_seconds, 0, kMostSeconds},
                                 {&figures.pinned_bytes, 0, kMostPinnedBytes}};
  for (double& rate : figures.compress) numbers.push_back({&rate, kLeastRate, kMostRate});
  numbers.push_back({&figures.restore, kLeastRate, kMostRate});
  numbers.push_back({&figures.bus_gbps, 0, kMostRate});
  numbers.push_back({&figures.overlap, 0, 1});
  return numbers;
}

template <class Figures>
std::string numbers_text(Figures figures) {
  std::vector<double> values;
  for (const Number& number : numbers_of(figures)) values.push_back(*number.value);
  return fmt::format("{}", fmt::join(values, " "));
}

// The next line, without its end; nothing if there is no whole line.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class Value>
std::optional<Value> number_from(std::string_view word) {
  Value value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

template <class Figures>
bool read_numbers(std::string_view line, Figures& figures) {
  for (const Number& number : numbers_of(figures)) {
    const auto value = number_from<double>(take_word(line));
    if (!value || !std::isfinite(*value)) return false;
    *number.value = std::clamp(*value, number.least, number.most);
  }
  return line.empty();
}

bool is_own(const struct stat& status) { return status.st_uid == geteuid(); }

// Opens a folder if it is the user's own.
Descriptor own_folder(int at, const char* name, int flags) {
  Descriptor folder(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  struct stat status {};
  if (folder.number() < 0 || (fstat(folder.number(), &status) == 0 && is_own(status))) return folder;
  errno = EPERM;
  return Descriptor();
}

// With `make`, first makes the folder if it does not exist; the folder `at` must then be the user's own.
Descriptor own_folder_or_new(int at, const char* name, int flags, bool make) {
  if (make && mkdirat(at, name, S_IRWXU) != 0 && errno != EEXIST) return Descriptor();
  return own_folder(at, name, flags);
}

struct FiguresPlace {
  std::string path;
  Descriptor folder;  // negative if there is none; errno then says why
};

FiguresPlace open_place(bool make) {
  std::string cache;
  const char* const given = secure_getenv("XDG_CACHE_HOME");
  const char* const home = secure_getenv("HOME");
  if (given != nullptr && *given == '/')
    cache = given;
  else if (home != nullptr && *home == '/')
    cache = fmt::format("{}/.cache", home);
  while (cache.size() > 1 && cache.back() == '/') cache.pop_back();
  errno = ENOENT;
  FiguresPlace place;
  if (cache.size() < 2) return place;

  place.path = fmt::format("{}/{}/{}", cache, kFolderName, kFileName);
  // The folder that the user's environment names may be a link; what is in it may not.
  Descriptor base = own_folder(AT_FDCWD, cache.c_str(), 0);
  if (base.number() < 0 && errno == ENOENT && make) {
    const std::size_t slash = cache.rfind('/');
    const Descriptor parent = own_folder(AT_FDCWD, slash == 0 ? "/" : cache.substr(0, slash).c_str(), 0);
    if (parent.number() >= 0)
      base = own_folder_or_new(parent.number(), cache.c_str() + slash + 1, O_NOFOLLOW, true);
  }
  if (base.number() >= 0) place.folder = own_folder_or_new(base.number(), kFolderName, O_NOFOLLOW, make);
  return place;
}

std::optional<std::string> read_own_file(int folder) {
  // O_NONBLOCK, so that a pipe of that name does not block.
  const Descriptor file(openat(folder, kFileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !is_own(status) || status.st_nlink != 1 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  std::string text(kMostFileBytes, '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    const ssize_t count = read(file.number(), text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  text.resize(used);
  return text;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

const KeptFigures::Row* KeptFigures::of(std::string_view backend) const {
  const auto row = std::ranges::find(rows, backend, &Row::backend);
  return row == rows.end() ? nullptr : &*row;
}

std::string figures_text(const KeptFigures& kept) {
  std::string text = fmt::format("{}\ncores {}\nhost {}\n", kHead, kept.cores, numbers_text(kept.host));
  for (const KeptFigures::Row& row : kept.rows) {
    std::string device = row.device;
    std::ranges::replace(device, '\n', ' ');
    text += fmt::format("backend {} {}\ndevice {}\n", row.backend, numbers_text(row.figures), device);
  }
  return text + fmt::format("{}\n", kEnd);
}

std::optional<KeptFigures> parse_figures(std::string_view text) {
  KeptFigures kept;
  if (take_line(text) != kHead) return std::nullopt;
  std::string_view line = take_line(text).value_or("");
  if (take_word(line) != "cores") return std::nullopt;
  const auto cores = number_from<unsigned>(line);
  if (!cores) return std::nullopt;
  kept.cores = std::clamp(*cores, 1u, kMostCores);
  line = take_line(text).value_or("");
  if (take_word(line) != "host" || !read_numbers(line, kept.host)) return std::nullopt;
  for (;;) {
    line = take_line(text).value_or("");
    if (line == kEnd) break;
    if (take_word(line) != "backend") return std::nullopt;
    KeptFigures::Row& row = kept.rows.emplace_back();
    row.backend = take_word(line);
    if (row.backend.empty() || !read_numbers(line, row.figures)) return std::nullopt;
    line = take_line(text).value_or("");
    if (take_word(line) != "device") return std::nullopt;
    row.device = line;
  }
  if (!text.empty()) return std::nullopt;
  return kept;
}

std::optional<KeptFigures> load_figures() noexcept {
  try {
    const FiguresPlace place = open_place(false);
    if (place.folder.number() < 0) return std::nullopt;
    const std::optional<std::string> text = read_own_file(place.folder.number());
    return text ? parse_figures(*text) : std::nullopt;
  } catch (...) {
    return std::nullopt;  // no memory for the figures
  }
}

std::string keep_figures(const KeptFigures& kept) {
  const FiguresPlace place = open_place(true);
  const auto failed = [&] {
    const std::string why = std::generic_category().message(errno);
    return Error(Status::kWriteFailed,
                 place.path.empty() ? "there is no cache folder: set XDG_CACHE_HOME or HOME"
                 : errno == EPERM   ? fmt::format("{} must be in a folder that this user owns", place.path)
                                    : fmt::format("{}: {}", place.path, why));
  };
  if (place.folder.number() < 0) throw failed();
  const std::string temporary = fmt::format(".{}-{}", kFileName, getpid());
  unlinkat(place.folder.number(), temporary.c_str(), 0);  // left by a killed process with the same number
  const Descriptor file(openat(place.folder.number(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.number() < 0) throw failed();
  if (!write_all(file.number(), figures_text(kept)) ||
      renameat(place.folder.number(), temporary.c_str(), place.folder.number(), kFileName) != 0) {
    const Error error = failed();
    unlinkat(place.folder.number(), temporary.c_str(), 0);
    throw error;
  }
  return place.path;
}

}  // namespace hemstitch
