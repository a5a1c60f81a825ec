// Files as the pipeline's sources and sinks.
//
// An output gets its name only when it is complete. It grows under a temporary name in the same folder,
// readable only by its owner, gets the source's attributes, and is renamed. A signal or an error removes it.
// A small file that is written at once may have no name at all until then, if the file system supports this:
// then there is nothing to remove, and its folder is locked once instead of twice. Devices and pipes are
// written directly.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/output/file_attributes.hpp"
#include "cli/files/suffixes.hpp"
#include "cli/files/walk/folder.hpp"
#include "cli/messages.hpp"
#include "core/descriptor.hpp"
#include "core/read_ahead.hpp"
#include "format/identify.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

class FileSource : public Source {
 public:
  // For files that are not arguments: only regular ones, and none through a link. Throws ToolError.
  explicit FileSource(FileName file);
  // An argument; "-" is standard input.
  explicit FileSource(const std::string& path) : FileSource(FileName::from_argument(path)) {}

  std::size_t read_some(std::span<std::byte> into) override;
  bool comes_within(std::chrono::milliseconds time) override;
  std::size_t read_in_parallel(std::span<std::byte> into) override;
  std::uint64_t skip(std::uint64_t count) override;
  bool seek(std::uint64_t position) override;
  std::optional<std::uint64_t> total_bytes() const override { return total_bytes_; }

  // Instead of read(), for a new source: reads a whole file of room.size() - 1 bytes with one call of the system. Returns
  // false if the file is longer, or if fewer bytes came.
  bool read_whole(std::span<std::byte> room);
  // What is known of the file stays known.
  void close() { descriptor_ = Descriptor(); }

  // For its output. Read on first use, so call it before close().
  const FileAttributes& attributes() const;
  // The output's time of the last change, in seconds since 1970.
  void set_modified(std::uint32_t seconds) {
    attributes();
    attributes_->set_modified(seconds);
  }

  // The first bytes of the data, or the next ones if some were read; fewer than kIdentifyBytes only if there
  // are no more. read() returns them again. Valid until the next read.
  std::span<const std::byte> first_bytes();

  const FileName& file() const { return file_; }
  const struct stat& status() const { return status_; }
  bool is_standard_input() const { return file_.is_standard_stream(); }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_directory() const { return S_ISDIR(status_.st_mode); }

 private:
  std::size_t read_descriptor(std::span<std::byte> into) const;

  FileName file_;
  Descriptor descriptor_;
  struct stat status_ {};
  mutable std::optional<FileAttributes> attributes_;
  off_t begin_ = 0;  // the beginning of the stream in a regular file: standard input may start in the middle
  std::optional<std::uint64_t> total_bytes_;  // for a regular file that can seek
  ReadAhead ahead_;
};

class FileSink : public Sink {
 public:
  // Standard output: written as data comes.
  static std::unique_ptr<FileSink> standard_output() { return into(STDOUT_FILENO); }
  // An open descriptor, which is neither named nor removed. Throws ToolError.
  static std::unique_ptr<FileSink> into(int descriptor);
  // The same for a file that no other process can open, so that it may be written through a mapping.
  static std::unique_ptr<FileSink> into_own(int descriptor);

  struct Target {
    FileName file;
    bool overwrite = false;  // replace a file of that name, or a link
    bool sparse = false;     // leave holes for runs of zeros
    bool unnamed = false;    // without a temporary name if possible: for files that are written at once
    bool sync = false;       // complete() returns when the file is on the disk, with its name
  };
  // Throws ToolError if the target exists and may not be overwritten, or is `source` itself.
  static std::unique_ptr<FileSink> create(const Target& target, const FileSource& source);

  ~FileSink() override;  // without complete(), removes what was written under the temporary name

  void write(std::span<const std::byte> bytes) override;
  void write_in_parallel(std::span<const std::byte> bytes) override;
  bool replace_beginning(std::span<const std::byte> bytes) override;

  // Finishes the file, and gives it the attributes of `source` if that is a regular file, and its name.
  // Returns the attributes that the file system refused; that is no reason to lose the data.
  [[nodiscard]] std::optional<std::string> complete(const FileSource& source);

  bool is_same_file(const struct stat& other) const;
  // False for outputs that are written as data comes: devices, pipes, stdout.
  bool takes_a_name() const { return unnamed_ || !temporary_name_.empty(); }

 private:
  FileSink() = default;
  void refuse_existing(const FileSource& source) const;
  ToolError cannot_be_created() const;
  bool open_unnamed(const FileSource& source);
  void open_temporary();
  template <class WriteRun>
  void put(std::span<const std::byte> bytes, const WriteRun& write_run);
  template <class WriteRun>
  void write_with_holes(std::span<const std::byte> bytes, const WriteRun& write_run);
  void write_all(std::span<const std::byte> bytes);
  void write_mapped(std::span<const std::byte> bytes);
  void rename_temporary();
  void name_unnamed(const FileSource& source);

  Target target_;
  OpenFolder folder_;           // of the target, until that is complete
  std::string temporary_name_;  // empty if the target is written directly
  bool unnamed_ = false;
  bool is_own_ = false;  // no other process can open the file
  Descriptor descriptor_;
  std::uint64_t position_ = 0;    // of the next byte of content
  std::uint64_t hole_bytes_ = 0;  // zeros before `position_` that are not written yet
};

// Reads a whole file. Throws ToolError.
std::vector<std::byte> read_whole_file(const std::string& path);

// -D's file: all of it, or as much of its end as the format uses; null: as much as any format may. With a limit, that
// must have room for it. Errors name the option.
std::vector<std::byte> read_dictionary(const std::string& path, const FrameFormat* format,
                                       std::uint64_t memory_limit_bytes);

// `options` for this file: if neither its content nor an option gives the format, its suffix may. Throws
// ToolError as refuse_foreign() does if nothing gives it.
RestoreOptions options_to_restore(RestoreOptions options, FileSource& source);

// For restoring and listing, which take only Hemstitch's formats. Throws ToolError with the name of the other
// format and of its tool.
void refuse_foreign(const DataIdentity& identity);

}  // namespace hemstitch::cli
