#include "search/search_webgpu.hpp"

#include <algorithm>

#include "core/status.hpp"
#include "search/search_webgpu_device.hpp"

namespace hemstitch::webgpu {
namespace {

constexpr std::string_view kSearchShader = "search/search.wgsl";
// Larger pieces gain nothing: each of this size fills a large GPU many times over.
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostTurnMatches = std::uint64_t{1} << 20;

struct WrittenMatch {
  std::uint32_t position;
  std::uint32_t bytes;
};

}  // namespace

TextSearch::TextSearch(std::shared_ptr<Device> device, const PatternSet& patterns,
                       const TextSearchLimits& limits)
    : device_(std::move(device)), table_(patterns) {
  const std::uint64_t binding = device_->limits().binding_bytes - kSlackBytes;
  if (table_.words.size() * sizeof(std::uint32_t) > binding)
    throw Error(Status::kDeviceOutOfMemory, "search: the patterns are larger than the device's bindings");
  const std::uint64_t most = binding - std::min<std::uint64_t>(binding - 1, table_.places.most_bytes);
  piece_bytes_ = std::min(limits.piece_bytes != 0 ? limits.piece_bytes : kMostPieceBytes, most);
  piece_bytes_ = std::max<std::uint64_t>(piece_bytes_ / 4, 1) * 4;  // copies begin at whole words
  turn_matches_ = std::min(limits.turn_matches != 0 ? limits.turn_matches : kMostTurnMatches,
                           binding / sizeof(WrittenMatch));
}

std::vector<PackedMatch> TextSearch::find(std::string_view texts, std::span<const std::uint64_t> offsets,
                                          std::vector<StepTime>* times) {
  return find(offsets, times, [&](const Buffer& to, std::uint64_t begin, std::uint64_t bytes) {
    device_->write(to, std::as_bytes(std::span(texts.substr(begin, bytes))));
  });
}

std::vector<PackedMatch> TextSearch::find(const Buffer& texts, std::span<const std::uint64_t> offsets) {
  return find(offsets, nullptr, [&](const Buffer& to, std::uint64_t begin, std::uint64_t bytes) {
    const Copy copy{&texts, begin, &to, 0, divided_up(bytes, sizeof(std::uint32_t)) * sizeof(std::uint32_t)};
    device_->submit({&copy, 1}, {}, {}, {});
  });
}

template <class Bring>
std::vector<PackedMatch> TextSearch::find(std::span<const std::uint64_t> offsets,
                                          std::vector<StepTime>* times, const Bring& bring) {
  std::vector<PackedMatch> matches;
  const std::uint64_t bytes = offsets.empty() ? 0 : offsets.back();
  for (std::uint64_t begin = 0; begin < bytes; begin += piece_bytes_)
    find_in_piece(bring, offsets, begin, matches, times);
  return matches;
}

void TextSearch::make_room(std::uint64_t data_bytes, std::uint64_t text_count) {
  if (data_bytes <= buffers_.data_bytes && text_count <= buffers_.text_count) return;
  data_bytes = std::max(data_bytes, buffers_.data_bytes);
  text_count = std::max(text_count, buffers_.text_count);
  buffers_ = {};  // released first, since there may not be enough memory for both
  const std::uint64_t tiles = divided_up(data_bytes, kSearchTilePositions);
  BufferPlan plan;
  buffers_.data = plan.add("texts", data_bytes);
  buffers_.table = plan.add("patterns", table_.words.size() * sizeof(std::uint32_t));
  buffers_.text_begins = plan.add("begins of texts", (text_count + 1) * sizeof(std::uint32_t));
  buffers_.tile_counts = plan.add("matches of tiles", tiles * sizeof(std::uint32_t));
  buffers_.tile_begins = plan.add("begins of tiles' matches", (tiles + 1) * sizeof(std::uint32_t));
  buffers_.matches = plan.add("matches", turn_matches_ * sizeof(WrittenMatch));
  buffers_.scan = plan_scan(plan, tiles);
  buffers_.set = device_->make_buffers(plan);
  buffers_.data_bytes = data_bytes;
  buffers_.text_count = text_count;
  device_->write(buffers_.set[buffers_.table.index], std::as_bytes(std::span(table_.words)));
}

Step TextSearch::step(std::string_view entry_point, std::uint32_t positions, std::uint32_t text_count,
                      std::uint32_t first_match, std::uint32_t room) const {
  const auto tiles = static_cast<std::uint32_t>(divided_up(positions, kSearchTilePositions));
  const PatternPlaces& places = table_.places;
  const bool writes = entry_point == "write";
  return {kSearchShader,
          entry_point,
          {positions, text_count, tiles, places.pattern_count, places.ignore_case, places.first_word,
           places.first_mask, places.filter_at, places.first_at, places.lists_at, first_match, room},
          {{buffers_.data, Access::kRead},
           {buffers_.table, Access::kRead},
           {buffers_.text_begins, Access::kRead},
           writes ? kNoBinding : Binding{buffers_.tile_counts, Access::kReadWrite},
           writes ? Binding{buffers_.tile_begins, Access::kRead} : kNoBinding,
           writes ? Binding{buffers_.matches, Access::kReadWrite} : kNoBinding},
          tiles};
}

void TextSearch::run(const Recording& recording, std::vector<StepTime>* times) {
  std::vector<StepTime> taken;
  device_->run(recording, buffers_.set, times == nullptr ? nullptr : &taken);
  if (times != nullptr) times->insert(times->end(), taken.begin(), taken.end());
}

template <class Bring>
void TextSearch::find_in_piece(const Bring& bring, std::span<const std::uint64_t> offsets,
                               std::uint64_t begin, std::vector<PackedMatch>& matches,
                               std::vector<StepTime>* times) {
  const std::uint64_t end = std::min(begin + piece_bytes_, offsets.back());
  const std::uint64_t data_end = std::min(end + table_.places.most_bytes - 1, offsets.back());
  const auto positions = static_cast<std::uint32_t>(end - begin);

  // Where the texts begin that the piece overlaps, relative to the piece.
  std::vector<std::uint32_t> begins;
  const auto first = std::upper_bound(offsets.begin(), offsets.end(), begin) - 1;
  for (auto offset = first; offset != offsets.end() && *offset < data_end; ++offset)
    begins.push_back(static_cast<std::uint32_t>(std::max(*offset, begin) - begin));
  const auto text_count = static_cast<std::uint32_t>(begins.size());
  begins.push_back(static_cast<std::uint32_t>(data_end - begin));

  make_room(data_end - begin, text_count);
  const BufferSet& set = buffers_.set;
  bring(set[buffers_.data.index], begin, data_end - begin);
  device_->write(set[buffers_.text_begins.index], std::as_bytes(std::span(begins)));
  const Step count = step("count", positions, text_count, 0, 0);
  Recording recording;
  recording.dispatch(count);
  record_scan(recording, buffers_.tile_counts, buffers_.tile_begins, buffers_.scan,
              static_cast<std::uint32_t>(count.workgroup_count));
  run(recording, times);

  std::vector<std::uint32_t> tile_begins(count.workgroup_count + 1);
  device_->read(set[buffers_.tile_begins.index], std::as_writable_bytes(std::span(tile_begins)));
  const std::uint32_t total = tile_begins.back();
  for (std::uint32_t turn = 0; turn < total; turn += static_cast<std::uint32_t>(turn_matches_)) {
    const auto room = static_cast<std::uint32_t>(std::min<std::uint64_t>(turn_matches_, total - turn));
    Recording writing;
    writing.dispatch(step("write", positions, text_count, turn, room));
    run(writing, times);
    std::vector<WrittenMatch> written(room);
    device_->read(set[buffers_.matches.index], std::as_writable_bytes(std::span(written)));
    for (const WrittenMatch& match : written)
      matches.push_back(PackedMatch::of(begin + match.position, match.bytes));
  }
}

}  // namespace hemstitch::webgpu

namespace hemstitch {
namespace {

class WebgpuSearch : public DeviceSearch {
 public:
  WebgpuSearch(std::shared_ptr<webgpu::Device> device, const PatternSet& patterns)
      : device_(std::move(device)), search_(device_, patterns) {}

  void use_in_this_thread() override {}

  std::vector<PackedMatch> find(const SearchTexts& texts) override {
    return search_.find({reinterpret_cast<const char*>(texts.bytes.data()), texts.bytes.size()},
                        texts.offsets);
  }

  // Leaves all texts to the processor: restored blocks would return to the host, where searching them takes
  // no longer than uploading them again.
  void find_in_compressed(const SearchTexts&, std::uint64_t, bool,
                          const std::function<void(std::span<const RestoredFile>)>&) override {}

  std::vector<PackedMatch> find(const WebgpuTexts& texts) override {
    const std::uint64_t bytes = texts.offsets.empty() ? 0 : texts.offsets.back();
    if (bytes == 0) return {};
    if (texts.bytes == nullptr) throw Error(Status::kInvalidOption, "bytes is NULL");
    const webgpu::Buffer buffer = device_->wrap(static_cast<WGPUBuffer>(texts.bytes));
    if (buffer.bytes() < bytes || buffer.bytes() % webgpu::kSlackBytes != 0)
      throw Error(Status::kInvalidOption, "bytes: its size must be a multiple of 16 that holds all texts");
    return search_.find(buffer, texts.offsets);
  }

 private:
  std::shared_ptr<webgpu::Device> device_;
  webgpu::TextSearch search_;
};

}  // namespace

std::unique_ptr<DeviceSearch> make_webgpu_search(std::shared_ptr<webgpu::Device> device,
                                                 const PatternSet& patterns) {
  return std::make_unique<WebgpuSearch>(std::move(device), patterns);
}

}  // namespace hemstitch
