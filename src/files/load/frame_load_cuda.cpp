// Compressed files to a CUDA device.
//
//   reading threads   read a piece | upload it | plan it, in the order of pieces;
//                     after a group's last piece: enqueue its work
//   device            pieces arrive | carry | restore, scatter of stored blocks, checksums
//                     (a stream for each group, several at once)
//   calling thread    group after group: wait, judge, release its buffer to the readers
//
// Device memory: a few groups of compressed bytes, and the content of each file. The content's memory grows
// as planned blocks need it (files/load/frame_planner.hpp), so the size in a header alone decides nothing. Pinned
// memory: two pieces for each reading thread, and the arrays of the groups.
//
// Order. A group's buffer is used again once the calling thread has judged the group, and so has waited for
// all its work. The last group in the next buffer may still read that buffer's lead; the copy to it waits on
// the device. A reader uses its pinned piece again once it was uploaded and planned. No thread waits for a
// later piece or group than its own, and pieces are taken in order: so the first piece that is not done can
// always be read, planned and uploaded, and there is no deadlock.
//
// Afterwards the processor restores the files that the device left, one after the other, and uploads them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "compact/gather/gather_cuda.hpp"
#include "compact/scatter/scatter_cuda.hpp"
#include "core/descriptor.hpp"
#include "core/messages.hpp"
#include "core/options.hpp"
#include "core/source.hpp"
#include "files/frame_files_device.hpp"
#include "files/load/frame_groups.hpp"
#include "files/load/read_contents.hpp"
#include "files/load/stream_load_cuda.hpp"
#include "files/memory/frame_memory_cuda.hpp"
#include "format/formats.hpp"
#include "format/formats_cuda.hpp"
#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/growing_buffer.hpp"
#include "gpu/cuda/pinned_arrays.hpp"
#include "gpu/cuda/staged_upload.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {
namespace {

using cuda::copy_async;
using cuda::DeviceBuffer;
using cuda::Event;
using cuda::FrameMemory;
using cuda::PinnedArrays;

// Uploads `count` elements from `first` on.
template <class T>
void upload(const PinnedArrays::Array<T>& array, std::size_t first, std::size_t count, cudaStream_t stream) {
  copy_async(array.d + first, array.h + first, count * sizeof(T), cudaMemcpyHostToDevice, stream);
}
template <class T>
void download(const PinnedArrays::Array<T>& array, std::size_t first, std::size_t count,
              cudaStream_t stream) {
  copy_async(array.h + first, array.d + first, count * sizeof(T), cudaMemcpyDeviceToHost, stream);
}

struct GroupArrays {
  // Of compressed blocks:
  PinnedArrays::Array<const std::byte*> data;
  PinnedArrays::Array<std::size_t> data_bytes;
  PinnedArrays::Array<std::byte*> rooms;
  PinnedArrays::Array<std::size_t> room_bytes;
  PinnedArrays::Array<std::size_t> restored_bytes;
  PinnedArrays::Array<hemstitch_status> statuses;
  // Of stored blocks:
  PinnedArrays::Array<std::uint64_t> stored_at;  // in the group's buffer
  PinnedArrays::Array<std::uint32_t> stored_bytes;
  PinnedArrays::Array<std::byte*> stored_rooms;
  // Of blocks with a checksum, of their data or of their content:
  PinnedArrays::Array<const std::byte*> checked;
  PinnedArrays::Array<std::size_t> checked_bytes;
  PinnedArrays::Array<std::uint32_t> checksums;

  GroupArrays() = default;
  GroupArrays(PinnedArrays& arrays, std::size_t encoded_count, std::size_t stored_count,
              std::size_t checked_count)
      : data(arrays.take<const std::byte*>(encoded_count)),
        data_bytes(arrays.take<std::size_t>(encoded_count)),
        rooms(arrays.take<std::byte*>(encoded_count)),
        room_bytes(arrays.take<std::size_t>(encoded_count)),
        restored_bytes(arrays.take<std::size_t>(encoded_count)),
        statuses(arrays.take<hemstitch_status>(encoded_count)),
        stored_at(arrays.take<std::uint64_t>(stored_count)),
        stored_bytes(arrays.take<std::uint32_t>(stored_count)),
        stored_rooms(arrays.take<std::byte*>(stored_count)),
        checked(arrays.take<const std::byte*>(checked_count)),
        checked_bytes(arrays.take<std::size_t>(checked_count)),
        checksums(arrays.take<std::uint32_t>(checked_count)) {}
};

// Works on one group after another: a buffer, a stream, and the arguments and results of its kernels.
struct GroupSlot {
  GroupSlot(cuda::Device& device, const FrameLoadSizes& sizes, std::size_t group_bytes)
      : buffer(BlockGroup::kLeadBytes + group_bytes + kSlackBytes, stream.get(), device.memory()),
        arrived(sizes.group_pieces),
        h_arrays(device.pinned()),
        d_arrays(device.memory()),
        scratch(device.memory()) {}

  static constexpr std::size_t kSlackBytes = 64;  // after the last byte: kernels read whole words

  cuda::Stream stream;
  DeviceBuffer<std::byte> buffer;
  std::vector<Event> arrived;  // for each piece
  Event carried;
  Event done{Event::Kind::kWait};

  cuda::GrowingPinned h_arrays;
  cuda::GrowingBuffer<std::byte> d_arrays, scratch;
  GroupArrays arrays;
  std::vector<GroupBlock> blocks;
};

// A file that is being loaded.
struct LoadedFile {
  // Open from the file's first part to its last one.
  std::mutex mutex;
  Descriptor descriptor;
  std::size_t parts_left = 0;

  FrameMemory content;
  RestoredParts restored;
};

class FrameLoader {
 public:
  FrameLoader(cuda::Device& device, const std::vector<std::string>& paths,
              std::vector<std::uint64_t> file_bytes, const FrameLoadOptions& options,
              const FrameLoadSizes& sizes)
      : device_(device),
        paths_(paths),
        file_bytes_(std::move(file_bytes)),
        options_(options),
        sizes_(sizes),
        readers_(resolve_threads(options.threads)),
        plan_(plan_pieces(file_bytes_, piece_sizes())),
        planner_(plan_, file_bytes_, options.verify_checksums),
        files_(std::make_unique<LoadedFile[]>(paths.size())),
        ready_(plan_.pieces.size()) {
    for (const FilePart& part : plan_.parts) ++files_[part.file].parts_left;
    for (std::size_t file = 0; file < paths.size(); ++file)
      if (file_bytes_[file] == 0) planner_.leave(file);  // empty, or its size is not known in advance
    readers_ = static_cast<unsigned>(std::min<std::size_t>(readers_, plan_.pieces.size()));
  }

  // After an error, copies may still use the memory that is freed here.
  ~FrameLoader() {
    for (const std::unique_ptr<GroupSlot>& slot : slots_) cudaStreamSynchronize(slot->stream.get());
    cudaStreamSynchronize(memory_stream_.get());
  }

  // The contents of the files that the device restored; nothing for files that it left.
  std::vector<std::optional<FrameMemory>> run() {
    if (!plan_.pieces.empty()) run_groups();
    std::vector<std::optional<FrameMemory>> contents(paths_.size());
    for (std::size_t file = 0; file < paths_.size(); ++file) {
      LoadedFile& loaded = files_[file];
      if (!planner_.left(file) && !loaded.restored.agrees_with(planner_.file(file).frames()))
        planner_.leave(file);
      if (planner_.left(file))
        loaded.content = {};
      else
        close_up(loaded);
    }
    if (options_.verify_checksums && options_.verify_content_checksum)
      for (const Format format : formats_) check_contents(format);
    memory_stream_.synchronize();
    for (std::size_t file = 0; file < paths_.size(); ++file) {
      if (planner_.left(file)) continue;
      contents[file] = std::move(files_[file].content);
      contents[file]->complete(files_[file].restored.bytes(), options_.stream);
    }
    return contents;
  }

 private:
  static bool device_restores(Format id) {
    const cuda::DeviceFormat* const format = cuda::device_format(id);
    return format != nullptr && format->restores();
  }

  // The formats of the blocks that FramePlanner plans: those that the first bytes of a file tell. In a group's
  // arrays, the blocks of one format are together.
  static std::vector<Format> planned_formats() {
    std::vector<Format> formats;
    for (const FormatRow& row : FormatTable::instance().all())
      if (row.format->is_told_by_content() && device_restores(row.format->id()))
        formats.push_back(row.format->id());
    return formats;
  }

  PieceSizes piece_sizes() const {
    std::uint64_t all_bytes = 0;
    for (const std::uint64_t bytes : file_bytes_) all_bytes += bytes;
    PieceSizes sizes;
    sizes.piece_files = sizes_.piece_files;
    sizes.group_pieces = sizes_.group_pieces;
    // If there is little, two pieces for each thread.
    sizes.piece_bytes = static_cast<std::size_t>(std::clamp<std::uint64_t>(
        all_bytes / (2 * std::uint64_t{readers_}), sizes_.least_piece_bytes, sizes_.most_piece_bytes));
    sizes.group_bytes = static_cast<std::size_t>(std::clamp<std::uint64_t>(
        all_bytes / 4, std::max(sizes_.least_group_bytes, sizes.piece_bytes), sizes_.most_group_bytes));
    return sizes;
  }

  void run_groups() {
    std::size_t piece_bytes = 0, group_bytes = 0;
    for (const FilePiece& piece : plan_.pieces) {
      piece_bytes = std::max(piece_bytes, piece.bytes);
      group_bytes = std::max(group_bytes, piece.group_at + piece.bytes);
    }
    // At least two, since a group's lead is filled while the group before is worked on.
    const std::size_t slot_count =
        std::min(std::max<std::size_t>(sizes_.groups, 2), plan_.group_ends.size() + 1);
    for (std::size_t i = 0; i < slot_count; ++i) {
      slots_.push_back(std::make_unique<GroupSlot>(device_, sizes_, group_bytes));
      slots_.back()->stream.synchronize();  // other streams write to its buffer
    }

    std::vector<std::thread> threads;
    try {
      for (unsigned i = 0; i < readers_; ++i)
        threads.emplace_back([this, piece_bytes] {
          try {
            read_pieces(piece_bytes);
          } catch (...) {
            stop(std::current_exception());
          }
        });
    } catch (...) {
      stop(std::current_exception());
    }
    try {
      for (std::size_t group = 0; group < plan_.group_ends.size(); ++group) {
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return error_ || groups_sent_ > group; });
          if (error_) break;
        }
        GroupSlot& slot = *slots_[group % slots_.size()];
        slot.done.synchronize();
        judge(slot);
        {
          const std::scoped_lock lock(mutex_);
          groups_judged_ = group + 1;
        }
        changed_.notify_all();
      }
    } catch (...) {
      stop(std::current_exception());
    }
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

  void stop(std::exception_ptr error) {
    {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    changed_.notify_all();
  }

  // ---- Reading threads ----

  void read_pieces(std::size_t piece_bytes) {
    struct Place {
      std::byte* begin = nullptr;
      std::optional<std::size_t> piece;  // the piece that it held last
      Event sent{Event::Kind::kWait};
    };
    device_.make_current();
    const cuda::PinnedPool::Block memory = device_.pinned().take(2 * piece_bytes);
    const cuda::Stream stream;
    std::array<Place, 2> places;
    for (std::size_t i = 0; i < places.size(); ++i) places[i].begin = memory.span().data() + i * piece_bytes;
    try {
      for (std::size_t turn = 0;; ++turn) {
        Place& place = places[turn % places.size()];
        std::size_t number;
        {
          std::unique_lock lock(mutex_);
          number = pieces_taken_++;
          if (number >= plan_.pieces.size()) break;
          changed_.wait(lock, [&] {
            return error_ || (groups_judged_ + slots_.size() > plan_.pieces[number].group &&
                              (!place.piece || pieces_planned_ > *place.piece));
          });
          if (error_) break;
        }
        if (place.piece) place.sent.synchronize();
        const FilePiece& piece = plan_.pieces[number];
        const std::span<std::byte> bytes(place.begin, piece.bytes);
        read_piece(piece, bytes);
        GroupSlot& slot = *slots_[piece.group % slots_.size()];
        copy_async(slot.buffer.get() + BlockGroup::kLeadBytes + piece.group_at, bytes.data(), bytes.size(),
                   cudaMemcpyHostToDevice, stream.get());
        place.sent.record(stream.get());
        slot.arrived[piece.group_number].record(stream.get());
        place.piece = number;
        plan_piece(number, bytes);
      }
      // The planner may still read these bytes, on whichever thread it runs.
      std::unique_lock lock(mutex_);
      for (const Place& place : places)
        changed_.wait(lock, [&] { return error_ || !place.piece || pieces_planned_ > *place.piece; });
      // The planner reads without this lock, so wait until it is done.
      changed_.wait(lock, [&] { return !planning_; });
    } catch (...) {
      stop(std::current_exception());
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !planning_; });
      lock.unlock();
      cudaStreamSynchronize(stream.get());
      return;
    }
    stream.synchronize();
  }

  void read_piece(const FilePiece& piece, std::span<std::byte> into) {
    for (const FilePart& part : plan_.parts_of(piece)) {
      const std::span<std::byte> room = into.first(part.bytes);
      into = into.subspan(part.bytes);
      LoadedFile& file = files_[part.file];
      int descriptor;
      {
        const std::scoped_lock lock(file.mutex);
        if (!planner_.left(part.file) && file.descriptor.number() < 0) open_file(part.file);
        descriptor = file.descriptor.number();
      }
      if (!planner_.left(part.file) && !read_part(descriptor, part.at, room)) planner_.leave(part.file);
      const std::scoped_lock lock(file.mutex);
      if (--file.parts_left == 0) file.descriptor = Descriptor();
    }
  }

  void open_file(std::size_t number) {
    Descriptor descriptor(open(paths_[number].c_str(), kReadContentsFlags));
    struct stat status {};
    // The file changed since its size was queried; a stream reads it.
    if (descriptor.number() < 0 || fstat(descriptor.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) != file_bytes_[number])
      planner_.leave(number);
    files_[number].descriptor = std::move(descriptor);
  }

  static bool read_part(int descriptor, std::uint64_t at, std::span<std::byte> into) {
    while (!into.empty()) {
      const ssize_t count = pread(descriptor, into.data(), into.size(), static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += static_cast<std::uint64_t>(count);
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

  // Call it once the piece was read and uploaded. The thread that has the next piece in order plans it, and
  // the pieces after it that are ready.
  void plan_piece(std::size_t number, std::span<const std::byte> bytes) {
    std::unique_lock lock(mutex_);
    ready_[number] = bytes.data();
    if (planning_) return;  // the planning thread will plan this piece too
    planning_ = true;
    try {
      while (!error_ && pieces_planned_ < ready_.size() && ready_[pieces_planned_] != nullptr) {
        const std::size_t next = pieces_planned_;
        const std::span<const std::byte> piece(ready_[next], plan_.pieces[next].bytes);
        lock.unlock();
        const bool last = planner_.take(next, piece);
        if (last) send_group(plan_.pieces[next].group);
        lock.lock();
        ++pieces_planned_;
        if (last) ++groups_sent_;
        changed_.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!error_) error_ = std::current_exception();  // before this piece could be planned again
      planning_ = false;
      changed_.notify_all();
      throw;
    }
    planning_ = false;
    changed_.notify_all();
  }

  // ---- Planning thread ----

  void send_group(std::size_t number) {
    GroupSlot& slot = *slots_[number % slots_.size()];
    GroupSlot& next = *slots_[(number + 1) % slots_.size()];
    cudaStream_t const stream = slot.stream.get();
    const BlockGroup& group = planner_.group();
    const std::size_t piece_count =
        plan_.group_ends[number] - (number == 0 ? 0 : plan_.group_ends[number - 1]);
    for (std::size_t i = 0; i < piece_count; ++i) slot.arrived[i].hold(stream);
    if (number != 0) slots_[(number - 1) % slots_.size()]->carried.hold(stream);
    next.done.hold(stream);
    copy_async(next.buffer.get() + BlockGroup::kLeadBytes - group.carry_bytes,
               slot.buffer.get() + group.carry_at, group.carry_bytes, cudaMemcpyDeviceToDevice, stream);
    slot.carried.record(stream);

    make_rooms(group);
    slot.blocks = group.blocks;
    std::size_t stored_count = 0, checked_count = 0;
    for (const GroupBlock& block : slot.blocks) {
      stored_count += block.block.stored;
      checked_count += is_checked(block);
    }
    const std::size_t encoded_count = slot.blocks.size() - stored_count;
    PinnedArrays counted(nullptr, nullptr);
    GroupArrays(counted, encoded_count, stored_count, checked_count);
    PinnedArrays placed(slot.h_arrays.at_least(counted.bytes()),
                        slot.d_arrays.at_least(counted.bytes(), stream));
    slot.arrays = GroupArrays(placed, encoded_count, stored_count, checked_count);
    const GroupArrays& arrays = slot.arrays;

    std::size_t stored = 0;
    for (const GroupBlock& one : slot.blocks) {
      if (!one.block.stored) continue;
      arrays.stored_at.h[stored] = one.buffer_at;
      arrays.stored_bytes.h[stored] = one.block.data_bytes;
      arrays.stored_rooms.h[stored++] = room_of(one);
    }
    if (stored_count != 0) {
      upload(arrays.stored_at, 0, stored_count, stream);
      upload(arrays.stored_bytes, 0, stored_count, stream);
      upload(arrays.stored_rooms, 0, stored_count, stream);
      cuda::scatter_pieces_cuda(slot.buffer.get(), arrays.stored_at.d, arrays.stored_bytes.d, stored_count,
                                arrays.stored_rooms.d, nullptr, 0, stream);
    }
    BlocksDone done;
    for (const Format format : formats_) send_blocks(slot, format, done);
    slot.done.record(stream);
  }

  // How many of a group's blocks have been sent.
  struct BlocksDone {
    std::size_t encoded = 0, checked = 0;
  };

  // Restores the group's blocks of one format, and computes their checksums: of the data, or of the restored
  // content.
  void send_blocks(GroupSlot& slot, Format id, BlocksDone& done) {
    cudaStream_t const stream = slot.stream.get();
    const GroupArrays& arrays = slot.arrays;
    const BlocksDone first = done;
    cuda::DeviceRestore batch{.d_blocks = arrays.data.d + first.encoded,
                              .d_block_bytes = arrays.data_bytes.d + first.encoded,
                              .d_outputs = arrays.rooms.d + first.encoded,
                              .d_capacities = arrays.room_bytes.d + first.encoded,
                              .d_output_bytes = arrays.restored_bytes.d + first.encoded,
                              .d_statuses = arrays.statuses.d + first.encoded};
    for (const GroupBlock& one : slot.blocks) {
      if (one.block.format != id) continue;
      const std::byte* const d_data = slot.buffer.get() + one.buffer_at;
      if (is_checked(one)) {
        arrays.checked.h[done.checked] = one.block.checksum ? d_data : room_of(one);
        arrays.checked_bytes.h[done.checked++] =
            one.block.checksum ? one.block.data_bytes : one.block.room_bytes;
      }
      if (one.block.stored) continue;
      arrays.data.h[done.encoded] = d_data;
      arrays.data_bytes.h[done.encoded] = one.block.data_bytes;
      arrays.rooms.h[done.encoded] = room_of(one);
      arrays.room_bytes.h[done.encoded++] = one.block.room_bytes;
      batch.max_capacity = std::max<std::size_t>(batch.max_capacity, one.block.room_bytes);
      batch.max_block_bytes = std::max<std::size_t>(batch.max_block_bytes, one.block.data_bytes);
    }
    const cuda::DeviceFormat& format = *cuda::device_format(id);
    batch.count = done.encoded - first.encoded;
    if (batch.count != 0) {
      upload(arrays.data, first.encoded, batch.count, stream);
      upload(arrays.data_bytes, first.encoded, batch.count, stream);
      upload(arrays.rooms, first.encoded, batch.count, stream);
      upload(arrays.room_bytes, first.encoded, batch.count, stream);
      const std::size_t scratch_bytes = format.restore_scratch_bytes(batch);
      format.restore(batch, slot.scratch.at_least(scratch_bytes, stream), scratch_bytes, stream);
      download(arrays.restored_bytes, first.encoded, batch.count, stream);
      download(arrays.statuses, first.encoded, batch.count, stream);
    }
    const std::size_t checked_count = done.checked - first.checked;
    if (checked_count == 0) return;
    upload(arrays.checked, first.checked, checked_count, stream);
    upload(arrays.checked_bytes, first.checked, checked_count, stream);
    format.checksums(arrays.checked.d + first.checked, arrays.checked_bytes.d + first.checked, checked_count,
                     arrays.checksums.d + first.checked, stream);
    download(arrays.checksums, first.checked, checked_count, stream);
  }

  std::byte* room_of(const GroupBlock& block) const {
    return files_[block.file].content.data() + block.block.content_at;
  }

  bool is_checked(const GroupBlock& block) const {
    return options_.verify_checksums && (block.block.checksum || block.block.content_checksum);
  }

  // Makes sure that every room of the group's blocks exists.
  void make_rooms(const BlockGroup& group) {
    bool made = false;
    for (std::size_t i = 0; i < group.blocks.size(); ++i) {
      const std::size_t number = group.blocks[i].file;
      if (i + 1 < group.blocks.size() && group.blocks[i + 1].file == number) continue;
      LoadedFile& file = files_[number];
      // Even if the file has been left meanwhile: its blocks are in the group.
      const std::uint64_t needed = planner_.file(number).content_end();
      if (needed <= file.content.bytes()) continue;
      grow(file, needed, wanted_bytes(number));
      made = true;
    }
    if (made) memory_stream_.synchronize();  // other streams use the memory
  }

  // How large the file's content will be, as far as that is known. The size in a header is believed up to an
  // ordinary ratio to the compressed bytes; the rest is extrapolated from what was planned so far.
  std::uint64_t wanted_bytes(std::size_t number) const {
    constexpr std::uint64_t kBelievedRatio = 32;
    const FramePlanner& file = planner_.file(number);
    const std::uint64_t believed =
        std::min(file.promised_end().value_or(0), kBelievedRatio * file_bytes_[number]);
    const double ratio = static_cast<double>(file.content_end()) / static_cast<double>(file.position());
    const auto likely = static_cast<std::uint64_t>(ratio * static_cast<double>(file_bytes_[number]));
    const bool ends = file.position() == file_bytes_[number];
    return std::max({file.content_end(), believed, ends || file.promised_end() ? 0 : likely + likely / 16});
  }

  void grow(LoadedFile& file, std::uint64_t needed, std::uint64_t wanted) {
    // Earlier groups still write to the present memory.
    if (file.content.bytes() != 0)
      for (const std::unique_ptr<GroupSlot>& slot : slots_) slot->done.synchronize();
    FrameMemory larger;
    try {
      larger = FrameMemory(device_, wanted, memory_stream_.get());
    } catch (const Error& error) {
      if (error.status() != Status::kDeviceOutOfMemory || wanted == needed) throw;
      larger = FrameMemory(device_, needed, memory_stream_.get());
    }
    copy_async(larger.data(), file.content.data(), file.content.bytes(), cudaMemcpyDeviceToDevice,
               memory_stream_.get());
    file.content = std::move(larger);
  }

  // ---- The calling thread ----

  void judge(const GroupSlot& slot) {
    const GroupArrays& arrays = slot.arrays;
    BlocksDone done;
    for (const Format format : formats_) {
      for (const GroupBlock& one : slot.blocks) {
        if (one.block.format != format) continue;
        const auto expected = one.block.checksum ? one.block.checksum : one.block.content_checksum;
        bool good = !is_checked(one) || arrays.checksums.h[done.checked++] == *expected;
        std::uint64_t bytes = one.block.data_bytes;
        if (!one.block.stored) {
          good = good && arrays.statuses.h[done.encoded] == HEMSTITCH_OK;
          bytes = arrays.restored_bytes.h[done.encoded++];
        }
        if (good && one.block.content_bytes.value_or(bytes) == bytes)
          files_[one.file].restored.add(one.block, bytes);
        else
          planner_.leave(one.file);
      }
    }
  }

  // Closes the gaps after rooms that were not filled, and gives back memory that was not needed.
  void close_up(LoadedFile& file) {
    const std::uint64_t bytes = file.restored.bytes();
    const std::span<const RestoredParts::Run> runs = file.restored.runs();
    const bool together = bytes == 0 || (runs.size() == 1 && runs[0].at == 0);
    if (bytes == 0) {
      file.content = {};
    } else if (!together || file.content.bytes() - bytes > bytes / 8) {
      cudaStream_t const stream = memory_stream_.get();
      FrameMemory exact(device_, bytes, stream);
      constexpr std::uint64_t kMostPieceBytes = std::uint64_t{1} << 30;
      std::vector<const std::byte*> sources;
      std::vector<std::uint32_t> sizes;
      std::vector<std::uint64_t> places;
      std::uint64_t place = 0;
      for (const RestoredParts::Run& run : runs)
        for (std::uint64_t at = 0; at < run.bytes; at += kMostPieceBytes) {
          sources.push_back(file.content.data() + run.at + at);
          sizes.push_back(static_cast<std::uint32_t>(std::min(kMostPieceBytes, run.bytes - at)));
          places.push_back(place);
          place += sizes.back();
        }
      const DeviceBuffer<const std::byte*> d_sources = uploaded(sources);
      const DeviceBuffer<std::uint32_t> d_sizes = uploaded(sizes);
      const DeviceBuffer<std::uint64_t> d_places = uploaded(places);
      cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_places.get(), sources.size(), exact.data(),
                               nullptr, 0, stream);
      memory_stream_.synchronize();  // before the vectors and the old content are freed
      file.content = std::move(exact);
    }
  }

  template <class T>
  DeviceBuffer<T> uploaded(const std::vector<T>& values) {
    DeviceBuffer<T> buffer(values.size(), memory_stream_.get(), device_.memory());
    buffer.upload(values);
    return buffer;
  }

  // For all files at once, since a checksum of one file is a serial computation.
  void check_contents(Format format) {
    struct Expected {
      std::size_t file;
      std::uint32_t checksum;
    };
    std::vector<Expected> expected;
    std::vector<const std::byte*> spans;
    std::vector<std::size_t> span_bytes;
    for (std::size_t number = 0; number < paths_.size(); ++number) {
      if (planner_.left(number)) continue;
      const LoadedFile& file = files_[number];
      std::uint64_t at = 0;
      const std::vector<PlannedFrame>& frames = planner_.file(number).frames();
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const std::uint64_t bytes = file.restored.frame_bytes(i);
        if (frames[i].format == format && frames[i].content_checksum) {
          expected.push_back({number, *frames[i].content_checksum});
          spans.push_back(file.content.data() + at);
          span_bytes.push_back(bytes);
        }
        at += bytes;
      }
    }
    if (expected.empty()) return;
    const DeviceBuffer<const std::byte*> d_spans = uploaded(spans);
    const DeviceBuffer<std::size_t> d_span_bytes = uploaded(span_bytes);
    const DeviceBuffer<std::uint32_t> d_found(expected.size(), memory_stream_.get(), device_.memory());
    cuda::device_format(format)->checksums(d_spans.get(), d_span_bytes.get(), expected.size(), d_found.get(),
                                           memory_stream_.get());
    std::vector<std::uint32_t> found(expected.size());
    d_found.download(found);
    memory_stream_.synchronize();
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (found[i] != expected[i].checksum) planner_.leave(expected[i].file);
  }

  cuda::Device& device_;
  const std::vector<std::string>& paths_;
  std::vector<std::uint64_t> file_bytes_;
  const FrameLoadOptions& options_;
  const FrameLoadSizes& sizes_;
  unsigned readers_;
  const std::vector<Format> formats_ = planned_formats();
  FilePiecePlan plan_;
  GroupPlanner planner_;  // used by one thread at a time, guarded by planning_
  cuda::Stream memory_stream_;
  std::unique_ptr<LoadedFile[]> files_;
  std::vector<std::unique_ptr<GroupSlot>> slots_;

  // Shared by all threads.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;  // the first error; all threads stop
  std::size_t pieces_taken_ = 0;
  std::vector<const std::byte*> ready_;  // pieces that were read and uploaded
  bool planning_ = false;
  std::size_t pieces_planned_ = 0;
  std::size_t groups_sent_ = 0;
  std::size_t groups_judged_ = 0;
};

// ---- Files that the device leaves ----

class PathSource : public Source {
 public:
  explicit PathSource(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_.number() < 0) throw system_error(Status::kReadFailed, "cannot be opened", errno);
  }

  std::size_t read(std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count = ::read(descriptor_.number(), into.data() + done, into.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw system_error(Status::kReadFailed, "cannot be read", errno);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  Descriptor descriptor_;
};

// Writes to device memory that grows.
class DeviceSink : public Sink {
 public:
  explicit DeviceSink(cuda::Device& device) : device_(device), upload_(device) {}
  ~DeviceSink() override { cudaStreamSynchronize(stream_.get()); }

  void write(std::span<const std::byte> bytes) override {
    device_.make_current();
    if (bytes.size() > content_.bytes() - bytes_)
      move_to(std::max<std::uint64_t>(bytes_ + bytes.size(), bytes_ + bytes_ / 2));
    upload_.copy(content_.data() + bytes_, bytes, stream_.get());
    bytes_ += bytes.size();
  }

  FrameMemory take(cudaStream_t owner) {
    device_.make_current();
    if (content_.bytes() - bytes_ > bytes_ / 8) move_to(bytes_);
    stream_.synchronize();
    content_.complete(bytes_, owner);
    return std::move(content_);
  }

 private:
  void move_to(std::uint64_t bytes) {
    FrameMemory other(device_, bytes, stream_.get());
    copy_async(other.data(), content_.data(), bytes_, cudaMemcpyDeviceToDevice, stream_.get());
    content_ = std::move(other);
  }

  cuda::Device& device_;
  cuda::Stream stream_;
  cuda::StagedUpload upload_;
  FrameMemory content_;
  std::uint64_t bytes_ = 0;
};

// The same error, for this file.
Error error_of(const std::string& path, const Error& error) {
  std::string message = error.what();
  const std::string place = error.place().text() + ": ";
  const std::string ending = fmt::format(" ({})", status_text(error.status()));
  if (message.starts_with(place)) message.erase(0, place.size());
  if (message.ends_with(ending)) message.resize(message.size() - ending.size());
  return Error(error.status(), fmt::format("'{}': {}", path, message), error.place());
}

FrameMemory load_on_host(cuda::Device& device, const std::string& path, const FrameLoadOptions& options) {
  try {
    PathSource source(path);
    DeviceSink sink(device);
    RestoreOptions restore;
    restore.verify_checksums = options.verify_checksums;
    restore.backend = "cpu";
    restore.threads = options.threads;
    const StreamReport report = restore_stream(source, sink, restore);
    if (report.trailing_garbage_at) throw trailing_garbage(report.trailing_garbage_at);
    return sink.take(options.stream);
  } catch (const Error& error) {
    throw error_of(path, error);
  }
}

}  // namespace

std::vector<DeviceContent> load_frames_cuda(const std::vector<std::string>& paths,
                                            const FrameLoadOptions& options, const FrameLoadSizes& sizes) {
  cuda::Device& device =
      options.device.empty() ? cuda::open_current_device() : cuda::open_device(options.device);
  const cuda::CurrentDevice current(device);
  std::vector<std::uint64_t> file_bytes;
  for (const std::string& path : paths) {
    struct stat status {};
    const bool regular = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    file_bytes.push_back(regular ? static_cast<std::uint64_t>(status.st_size) : 0);
  }
  // Long streams have no blocks to find.
  std::vector<std::uint64_t> stream_bytes(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (is_long_stream(paths[i], file_bytes[i], sizes)) stream_bytes[i] = std::exchange(file_bytes[i], 0);
  std::vector<std::optional<FrameMemory>> contents =
      FrameLoader(device, paths, std::move(file_bytes), options, sizes).run();
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (stream_bytes[i] != 0)
      contents[i] = load_stream_cuda(device, paths[i], stream_bytes[i], options, sizes);
  std::vector<DeviceContent> loaded;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool on_device = contents[i].has_value();
    FrameMemory content = on_device ? std::move(*contents[i]) : load_on_host(device, paths[i], options);
    const std::uint64_t bytes = content.used_bytes();
    loaded.emplace_back(std::move(content).share(), bytes, on_device);
  }
  return loaded;
}

}  // namespace hemstitch
