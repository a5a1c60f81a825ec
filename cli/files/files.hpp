// Files as the pipeline's sources and sinks.
//
// An output appears under its name only when it is complete: it grows under a temporary name in the same
// folder, readable by its owner alone, takes the source's attributes, and is renamed. A signal or an error
// removes it. A small file that is written at once may grow without any name instead, where the file system has such files:
// then there is nothing to remove, and its folder is locked once rather than twice. Devices and pipes are written directly.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/file_attributes.hpp"
#include "cli/files/folder.hpp"
#include "cli/messages.hpp"
#include "core/descriptor.hpp"
#include "format/identify.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// Of names without folders. "a" -> "a.lz4", for the format that is written.
std::string compressed_name(std::string_view name, Format format);
// The suffix of that format. True for "a.lz4", not for ".lz4".
bool has_suffix(std::string_view name, Format format);
// "a.lz4" -> "a"; nothing where the suffix is another.
std::optional<std::string> restored_name(std::string_view name);

class FileSource : public Source {
 public:
  // Of files that are no arguments, regular ones alone, and none through a link. Throws ToolError.
  explicit FileSource(FileName file);
  // An argument; "-" is standard input.
  explicit FileSource(const std::string& path) : FileSource(FileName::from_argument(path)) {}

  std::size_t read(std::span<std::byte> into) override;
  std::size_t read_in_parallel(std::span<std::byte> into) override;
  std::uint64_t skip(std::uint64_t count) override;
  bool seek(std::uint64_t position) override;
  std::optional<std::uint64_t> total_bytes() const override { return total_bytes_; }

  // Instead of read(): the whole of a file with room.size() - 1 bytes, in one call of the system; false where that was not all there
  // is, or not all that came.
  bool read_whole(std::span<std::byte> room);
  // What is known of the file stays known.
  void close() { descriptor_ = Descriptor(); }

  // For its output. Read when they are first asked for, so before close().
  const FileAttributes& attributes() const;
  // Its output is to have been changed then, in seconds since 1970.
  void set_modified(std::uint32_t seconds) {
    attributes();
    attributes_->set_modified(seconds);
  }

  // The first bytes of the data, fewer than kIdentifyBytes only where there are no more. They are read again
  // by read().
  std::span<const std::byte> first_bytes();

  const FileName& file() const { return file_; }
  const struct stat& status() const { return status_; }
  bool is_standard_input() const { return file_.is_standard_stream(); }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_directory() const { return S_ISDIR(status_.st_mode); }

 private:
  std::size_t take_peeked(std::span<std::byte> into);
  std::size_t read_descriptor(std::span<std::byte> into);

  FileName file_;
  Descriptor descriptor_;
  struct stat status_ {};
  mutable std::optional<FileAttributes> attributes_;
  off_t begin_ = 0;  // where the stream begins in a regular file: standard input may start in its middle
  std::optional<std::uint64_t> total_bytes_;  // a regular file, and seekable
  std::array<std::byte, kIdentifyBytes> first_bytes_{};
  std::span<const std::byte> peeked_;  // of first_bytes_: not yet given by read()
  bool peeked_already_ = false;
};

class FileSink : public Sink {
 public:
  // Standard output: written as it comes.
  static std::unique_ptr<FileSink> standard_output() { return into(STDOUT_FILENO); }
  // What is open already, as it is: nothing names or removes it. Throws ToolError.
  static std::unique_ptr<FileSink> into(int descriptor);

  struct Target {
    FileName file;
    bool overwrite = false;  // replace a file of that name, or a link
    bool sparse = false;     // leave holes for runs of zeros
    bool unnamed = false;    // without a temporary name where that can be: for files that are written at once
    bool sync = false;       // complete() returns when it is on the disk, under its name
  };
  // Throws ToolError where the target exists and may not be overwritten, or is `source` itself.
  static std::unique_ptr<FileSink> create(const Target& target, const FileSource& source);

  ~FileSink() override;  // without complete(), removes what was written under the temporary name

  void write(std::span<const std::byte> bytes) override;
  void write_in_parallel(std::span<const std::byte> bytes) override;

  // Finishes the file, gives it the attributes of `source` where that is a regular file, and its
  // name. Returns what the file system did not let it have: no reason to lose the data.
  [[nodiscard]] std::optional<std::string> complete(const FileSource& source);

  bool is_same_file(const struct stat& other) const;
  // False for what is written as it comes: devices, pipes, stdout.
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
  std::string temporary_name_;  // empty where the target is written directly
  bool unnamed_ = false;
  Descriptor descriptor_;
  std::uint64_t position_ = 0;    // of the next byte of content
  std::uint64_t hole_bytes_ = 0;  // zeros before `position_` that were not written yet
};

// The whole of a file. Throws ToolError.
std::vector<std::byte> read_whole_file(const std::string& path);

// The part of -D's file that serves as history, its end; `whole`: there may be no more than that. The option is named in the error.
std::vector<std::byte> read_dictionary(const std::string& path, bool whole = false);

// `options` for that file: where its content does not tell the format, and no option does, its suffix may. Throws ToolError as
// refuse_foreign() where nothing tells it.
RestoreOptions options_to_restore(RestoreOptions options, FileSource& source);

// Restoring and listing take Hemstitch's formats. Throws ToolError that names another tool's format and the
// tool.
void refuse_foreign(const DataIdentity& identity);

}  // namespace hemstitch::cli
