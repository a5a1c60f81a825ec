#include "cli/files/output/file_attributes.hpp"

#include <fmt/format.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "cli/messages.hpp"
#include "core/bytes.hpp"

namespace hemstitch::cli {
namespace {

constexpr mode_t kPermissionBits = 0777;
constexpr mode_t kModeBits = 07777;
constexpr mode_t kClassBits = 07;  // of one class: owner, group or others
constexpr unsigned kGroupShift = 3;
constexpr mode_t kNewFileMode = 0666;
// Limits how much is kept: on some file systems, a stranger may attach gigabytes to a file.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::string_view kUserPrefix = "user.";
constexpr const char* kAcl = "system.posix_acl_access";
// An ACL as an attribute is a version, then entries: the first word has a tag and the permissions, the second
// says whose they are.
constexpr std::size_t kAclHeaderBytes = 4, kAclEntryBytes = 8;
constexpr std::uint32_t kAclTagBits = 0xFFFF, kAclOwner = 1;
constexpr unsigned kAclPermissionsShift = 16;

// Read once, since reading changes the mask for a moment, for all threads.
mode_t creation_mask() {
  static const mode_t mask = [] {
    const mode_t asked = umask(0);
    umask(asked);
    return asked;
  }();
  return mask;
}

// The names, each with a zero at its end. Most files have none.
std::string list_of_names(int descriptor) {
  std::array<char, 256> usual;
  ssize_t bytes = flistxattr(descriptor, usual.data(), usual.size());
  if (bytes >= 0) return {usual.data(), static_cast<std::size_t>(bytes)};
  std::string names;
  while (errno == ERANGE && (bytes = flistxattr(descriptor, nullptr, 0)) > 0) {
    names.resize(static_cast<std::size_t>(bytes));
    bytes = flistxattr(descriptor, names.data(), names.size());
    if (bytes >= 0) return names.substr(0, static_cast<std::size_t>(bytes));
  }
  return "";
}

// A folder may add a default list to files that are made in it.
bool drop_acl(int descriptor) {
  return fgetxattr(descriptor, kAcl, nullptr, 0) <= 0 || fremovexattr(descriptor, kAcl) == 0;
}

// Nothing if the attribute was removed meanwhile.
std::optional<std::string> value_of(int descriptor, const char* name) {
  std::string value;
  ssize_t bytes = 0;
  do {
    bytes = fgetxattr(descriptor, name, nullptr, 0);
    if (bytes < 0) return std::nullopt;
    value.resize(static_cast<std::size_t>(bytes));
    bytes = fgetxattr(descriptor, name, value.data(), value.size());
  } while (bytes < 0 && errno == ERANGE);
  if (bytes < 0) return std::nullopt;
  value.resize(static_cast<std::size_t>(bytes));
  return value;
}

}  // namespace

FileAttributes::FileAttributes(int descriptor, const struct stat& status)
    : from_file_(true), status_(status) {
  read_named(descriptor);
}

void FileAttributes::read_named(int descriptor) {
  const std::string names = list_of_names(descriptor);
  for (std::string_view rest = names; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const bool is_acl = name == kAcl;
    if (!is_acl && !name.starts_with(kUserPrefix)) continue;
    std::optional<std::string> value = value_of(descriptor, name.c_str());
    if (!value) continue;
    bytes_ += name.size() + value->size();
    if (is_acl)
      acl_ = std::move(*value);
    else if (bytes_ <= kMostBytes)
      named_.push_back({name, std::move(*value)});
    else
      too_large_ = true;
  }
}

// Setting extended attributes needs permission to write, which the final mode may not give.
mode_t FileAttributes::creation_mode() const {
  if (!from_file_ || !named_.empty() || !acl_.empty()) return S_IRUSR | S_IWUSR;
  return status_.st_mode & kPermissionBits & ~creation_mask();
}

std::optional<std::string> FileAttributes::give_to(int descriptor) const {
  struct stat present {};
  if (fstat(descriptor, &present) != 0) return tool_error_from_errno("the mode could not be kept").what();
  std::optional<std::string> lost;
  mode_t mode = kNewFileMode & ~creation_mask();
  if (from_file_) {
    mode = status_.st_mode & kPermissionBits;
    if (!give_named(descriptor)) lost = tool_error_from_errno("extended attributes could not be kept").what();
    const bool has_group = give_group(descriptor, present);
    if (has_group && give_acl(descriptor)) {
      if (!acl_.empty()) present.st_mode = mode;  // the list determines the mode
    } else {
      static_cast<void>(drop_acl(descriptor));
      mode = common_mode();
      if (!acl_.empty() || mode != (status_.st_mode & kPermissionBits))
        lost =
            fmt::format("the {} could not be kept, so mode {:03o} became {:03o}",
                        has_group ? "access control list" : "group", status_.st_mode & kPermissionBits, mode);
    }
  }
  if (mode != (present.st_mode & kModeBits) && fchmod(descriptor, mode) != 0)
    return tool_error_from_errno("the mode could not be kept").what();
  const struct timespec times[] = {status_.st_atim, status_.st_mtim};
  if (from_file_ && futimens(descriptor, times) != 0)
    return tool_error_from_errno("the time could not be kept").what();
  return lost;
}

// Only root may change the owner of a file; others may change its group to one that they are in. A folder may
// set the group of files that are made in it.
bool FileAttributes::give_group(int descriptor, const struct stat& present) const {
  const bool has_group = present.st_gid == status_.st_gid;
  if (has_group && present.st_uid == status_.st_uid) return true;
  if (fchown(descriptor, status_.st_uid, status_.st_gid) == 0) return true;
  return has_group || fchown(descriptor, static_cast<uid_t>(-1), status_.st_gid) == 0;
}

bool FileAttributes::give_named(int descriptor) const {
  int error = too_large_ ? E2BIG : 0;
  for (const Named& attribute : named_)
    if (fsetxattr(descriptor, attribute.name.c_str(), attribute.value.data(), attribute.value.size(), 0) != 0)
      error = errno;
  errno = error;
  return error == 0;
}

bool FileAttributes::give_acl(int descriptor) const {
  if (acl_.empty()) return drop_acl(descriptor);
  return fsetxattr(descriptor, kAcl, acl_.data(), acl_.size(), 0) == 0;
}

// The permissions that group and others both had, and everyone in the list.
mode_t FileAttributes::common_mode() const {
  mode_t common = status_.st_mode & (status_.st_mode >> kGroupShift) & kClassBits;
  const auto bytes = std::as_bytes(std::span(acl_));
  for (std::size_t at = kAclHeaderBytes; at + kAclEntryBytes <= bytes.size(); at += kAclEntryBytes) {
    const std::uint32_t entry = load_le32(bytes.data() + at);
    if ((entry & kAclTagBits) != kAclOwner) common &= entry >> kAclPermissionsShift;
  }
  return (status_.st_mode & S_IRWXU) | common << kGroupShift | common;
}

}  // namespace hemstitch::cli
