#include "format/deflate/frame/gzip_index.hpp"

#include <algorithm>
#include <array>

#include "core/bytes.hpp"

namespace hemstitch {
namespace {

constexpr std::array<std::byte, 5> kMagic{std::byte{'G'}, std::byte{'Z'}, std::byte{'I'}, std::byte{'D'}, std::byte{'X'}};
constexpr std::size_t kVersionAt = 5, kFileBytesAt = 7, kContentBytesAt = 15, kSpacingAt = 23, kWindowBytesAt = 27,
                      kPointCountAt = 31, kHeaderBytes = 35;
// Of a point.
constexpr std::size_t kContentAt = 8, kBitsAt = 16, kHasWindowAt = 17, kPointBytes = 18;
constexpr std::size_t kPointsAtOnce = 4096;

std::uint64_t byte_behind(std::uint64_t bit) { return bit / 8 + (bit % 8 != 0 ? 1 : 0); }

}  // namespace

void GzipIndex::add(std::uint64_t bit, std::uint64_t content_at, std::span<const std::byte> window) {
  if (points_.size() == most_points_) {
    for (std::size_t i = 0; i < points_.size(); i += 2)
      if (i != 0) points_[i / 2] = std::move(points_[i]);
    points_.resize((points_.size() + 1) / 2);
    spacing_bytes_ = spacing_bytes_ > UINT32_MAX / 2 ? UINT32_MAX : spacing_bytes_ * 2;
    if (!wants(content_at)) return;
  }
  GzipPoint& point = points_.emplace_back(GzipPoint{bit, content_at});
  if (window.empty()) return;
  point.window.resize(kGzipWindowBytes);
  std::ranges::copy(window, point.window.end() - static_cast<std::ptrdiff_t>(window.size()));
}

std::vector<std::byte> GzipIndex::bytes(std::uint64_t file_bytes, std::uint64_t content_bytes) const {
  std::vector<std::byte> bytes(kHeaderBytes + points_.size() * kPointBytes);
  std::ranges::copy(kMagic, bytes.begin());
  bytes[kVersionAt] = std::byte{1};
  store_le64(&bytes[kFileBytesAt], file_bytes);
  store_le64(&bytes[kContentBytesAt], content_bytes);
  store_le32(&bytes[kSpacingAt], spacing_bytes_);
  store_le32(&bytes[kWindowBytesAt], kGzipWindowBytes);
  store_le32(&bytes[kPointCountAt], static_cast<std::uint32_t>(points_.size()));
  std::byte* at = bytes.data() + kHeaderBytes;
  for (const GzipPoint& point : points_) {
    store_le64(at, byte_behind(point.bit));
    store_le64(at + kContentAt, point.content_at);
    at[kBitsAt] = static_cast<std::byte>(byte_behind(point.bit) * 8 - point.bit);
    at[kHasWindowAt] = std::byte{!point.window.empty()};
    at += kPointBytes;
  }
  for (const GzipPoint& point : points_) bytes.insert(bytes.end(), point.window.begin(), point.window.end());
  return bytes;
}

std::optional<GzipPoint> nearest_point(Source& index, std::uint64_t file_bytes, std::uint64_t content_at) {
  std::array<std::byte, kHeaderBytes> header;
  if (!index.seek(0) || index.read(header) != header.size() ||
      !std::ranges::equal(kMagic, std::span(header).first(kMagic.size())) || header[kVersionAt] > std::byte{1} ||
      load_le64(&header[kFileBytesAt]) != file_bytes || load_le32(&header[kWindowBytesAt]) != kGzipWindowBytes)
    return std::nullopt;
  const bool marked = header[kVersionAt] == std::byte{1};  // which points have a window
  const std::size_t point_bytes = marked ? kPointBytes : kPointBytes - 1;
  const std::uint64_t point_count = load_le32(&header[kPointCountAt]);
  std::optional<GzipPoint> nearest;
  bool has_window = false;
  std::uint64_t window_number = 0, window_count = 0, bit = 0, before = 0;
  std::vector<std::byte> points;
  for (std::uint64_t i = 0; i < point_count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i % kPointsAtOnce) * point_bytes;
    if (at == 0) {
      points.resize(static_cast<std::size_t>(std::min<std::uint64_t>(point_count - i, kPointsAtOnce)) * point_bytes);
      if (index.read(points) != points.size()) return std::nullopt;
    }
    const std::byte* const point = &points[at];
    const std::uint64_t byte = load_le64(point), content = load_le64(point + kContentAt);
    const unsigned bits = std::to_integer<unsigned>(point[kBitsAt]);
    if (byte > file_bytes || bits > 7 || byte * 8 < bits || byte * 8 - bits < bit || content < before)
      return std::nullopt;
    bit = byte * 8 - bits;
    before = content;
    const bool windowed = marked ? point[kHasWindowAt] != std::byte{0} : i != 0;
    if (content <= content_at) {
      nearest = GzipPoint{bit, content};
      has_window = windowed;
      window_number = window_count;
    }
    if (windowed) ++window_count;
  }
  if (!nearest || !has_window) return nearest;
  nearest->window.resize(kGzipWindowBytes);
  if (!index.seek(kHeaderBytes + point_count * point_bytes + window_number * kGzipWindowBytes) ||
      index.read(nearest->window) != kGzipWindowBytes)
    return std::nullopt;
  return nearest;
}

}  // namespace hemstitch
