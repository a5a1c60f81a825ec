#include "cli/files/walk/folder.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "cli/request.hpp"

namespace hemstitch::cli {
namespace {

// Open folders take this part of the descriptors that a process may have. The others are for files, whose
// number depends on the number of threads, and for backends.
constexpr std::size_t kFoldersShare = 8;
constexpr std::size_t kFewestFolders = 8, kMostFolders = 1024;

// The folders that were opened last stay open for the next user.
class LastOpened {
 public:
  static LastOpened& instance() {
    static auto* const folders =
        new LastOpened;  // never destroyed, since a signal's thread may be ending the process
    return *folders;
  }

  void keep(OpenFolder folder) {
    const std::lock_guard lock(mutex_);
    std::swap(kept_[next_], folder);  // the old one is closed after the lock is released
    next_ = (next_ + 1) % kept_.size();
  }

 private:
  LastOpened() {
    struct rlimit limit {};
    const std::size_t most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
    kept_.resize(std::clamp(most / kFoldersShare, kFewestFolders, kMostFolders));
  }

  std::mutex mutex_;
  std::vector<OpenFolder> kept_;
  std::size_t next_ = 0;
};

// The system refuses paths of PATH_MAX bytes or more, so a longer one is opened in pieces.
int open_path(std::string_view path, int flags) {
  Descriptor at(AT_FDCWD);
  while (path.size() >= PATH_MAX) {
    const std::size_t slash = path.rfind('/', PATH_MAX - 2);
    if (slash == std::string_view::npos || slash == 0) break;
    const std::string piece(path.substr(0, slash + 1));
    at = Descriptor(openat(at.number(), piece.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (at.number() < 0) return -1;
    path.remove_prefix(std::min(path.find_first_not_of('/', slash), path.size()));
    if (path.empty()) path = ".";
  }
  return openat(at.number(), std::string(path).c_str(), flags);
}

}  // namespace

// Never closed or destroyed.
const std::shared_ptr<const Folder>& Folder::current() {
  static const auto* const folder = [] {
    auto* const current = new std::shared_ptr<const Folder>(new Folder(""));
    static const auto* const always = new OpenFolder(std::make_shared<Descriptor>(AT_FDCWD));
    (*current)->opened_ = *always;
    struct stat status {};
    if (::stat(".", &status) == 0) (*current)->identity_ = {status.st_dev, status.st_ino};
    return current;
  }();
  return *folder;
}

Folder::Folder(std::string prefix, Way way) : name_(std::move(prefix)), way_(way) {}

Folder::Folder(std::shared_ptr<const Folder> around, std::string name)
    : around_(std::move(around)), name_(std::move(name)), way_(around_->way_) {}

// Ends the folders around this one in a loop, if this was the last one inside: a tree may be deeper than the
// stack.
Folder::~Folder() {
  std::shared_ptr<const Folder> last = std::move(around_);
  while (last && last.use_count() == 1) last = std::move(const_cast<Folder&>(*last).around_);
}

OpenFolder Folder::opened() const {
  const std::lock_guard lock(mutex_);
  return opened_.lock();
}

OpenFolder Folder::open() const {
  if (way_ != Way::kKept) return open_own(O_PATH);
  std::vector<const Folder*> way;
  OpenFolder at;
  for (const Folder* folder = this; folder != nullptr; folder = folder->around_.get()) {
    at = folder->opened();
    if (at) break;
    way.push_back(folder);
  }
  for (; !way.empty(); way.pop_back()) {
    at = way.back()->open_kept(at.get(), O_PATH);
    if (!at) break;
  }
  return at;
}

OpenFolder Folder::open_to_list() const {
  if (way_ != Way::kKept) return open_own(O_RDONLY);
  OpenFolder around;
  if (around_ && !(around = around_->open())) return nullptr;
  return open_kept(around.get(), O_RDONLY);
}

int Folder::open_in(const Descriptor* around, int flags) const {
  flags |= O_DIRECTORY | O_CLOEXEC;
  if (!around_) return open_path(name_.empty() ? "." : name_, flags);
  return openat(around->number(), name_.c_str(), flags | (way_ == Way::kOwnThroughLinks ? 0 : O_NOFOLLOW));
}

OpenFolder Folder::open_kept(const Descriptor* around, int flags) const {
  const int number = open_in(around, flags);
  if (number < 0) return nullptr;
  auto folder = std::make_shared<const Descriptor>(number);
  struct stat status {};
  if (fstat(number, &status) != 0) return nullptr;
  const Identity identity{status.st_dev, status.st_ino};
  {
    const std::lock_guard lock(mutex_);
    if (identity_ == Identity{}) identity_ = identity;
    if (identity_ != identity) {
      errno = ESTALE;
      return nullptr;
    }
    if (opened_.expired()) opened_ = folder;
  }
  LastOpened::instance().keep(folder);
  return folder;
}

OpenFolder Folder::open_own(int flags) const {
  Descriptor folder;
  for (const Folder* const next : from_the_named()) {
    folder = Descriptor(next->open_in(&folder, next == this ? flags : O_PATH));
    if (folder.number() < 0) return nullptr;
  }
  struct stat status {};
  if (fstat(folder.number(), &status) != 0) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (identity_ == Identity{}) identity_ = {status.st_dev, status.st_ino};
  }
  return std::make_shared<const Descriptor>(std::move(folder));
}

Folder::Identity Folder::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

std::string Folder::path() const {
  std::string path = path_of("");
  if (path.size() > 1) path.pop_back();
  return path;
}

// All folders from the named one to this one, which is the last.
std::vector<const Folder*> Folder::from_the_named() const {
  std::vector<const Folder*> way;
  for (const Folder* folder = this; folder != nullptr; folder = folder->around_.get()) way.push_back(folder);
  std::reverse(way.begin(), way.end());
  return way;
}

std::string Folder::path_of(std::string_view name) const {
  std::string path;
  for (const Folder* const folder : from_the_named()) {
    path.append(folder->name_);
    if (folder->around_) path.push_back('/');
  }
  return path.append(name);
}

FileName FileName::from_argument(const std::string& path, const FileName* neighbour) {
  const std::size_t begin = path.rfind('/') + 1;  // 0 if there is no slash
  if (begin == 0 || begin == path.size()) return {Folder::current(), path, true};
  const std::string_view prefix = std::string_view(path).substr(0, begin);
  std::string name = path.substr(begin);
  if (neighbour != nullptr && neighbour->folder->path_of("") == prefix)
    return {neighbour->folder, std::move(name), true};
  return {std::make_shared<Folder>(std::string(prefix)), std::move(name), true};
}

bool FileName::is_standard_stream() const {
  return is_argument && name == kStandardStream && folder == Folder::current();
}

int FileName::open(int flags) const {
  const OpenFolder at = folder->open();
  if (!at) return -1;
  return openat(at->number(), name.c_str(), flags | O_CLOEXEC | (is_argument ? 0 : O_NOFOLLOW));
}

bool FileName::stat(struct stat& status) const {
  const OpenFolder at = folder->open();
  return at && fstatat(at->number(), name.c_str(), &status, is_argument ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

bool FileName::unlink() const {
  const OpenFolder at = folder->open();
  return at && unlinkat(at->number(), name.c_str(), 0) == 0;
}

}  // namespace hemstitch::cli
