#include "pages/page_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>

#include "core/xml_text.hpp"

namespace hemstitch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::uint64_t, 6> kSurveyedBatches = {1, 16, 100, 1000, 10000, 100000};
// How many calls are timed one by one, and how long a speed is measured.
constexpr std::size_t kTimedCalls = 20000;
constexpr double kLeastSeconds = 0.05;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

CallTimes times_of(std::vector<double>& seconds) {
  std::ranges::sort(seconds);
  const auto at = [&](double part) {
    return seconds[static_cast<std::size_t>(part * double(seconds.size() - 1))] * 1e6;
  };
  return {at(0.5), at(0.99)};
}

PageStoreOptions store_options(const PageBatchOptions& batch, std::uint64_t pages) {
  return {.page_count = pages, .batch = batch};
}

void expect_same(std::span<const std::byte> pages, std::span<const std::byte> got) {
  if (std::memcmp(pages.data(), got.data(), pages.size()) != 0)
    throw Error(Status::kInternal, "pages read from the store differ from those written");
}

void time_calls(std::span<const std::byte> pages, const PageBatchOptions& options, PageSurvey& survey) {
  const std::size_t bytes = options.page_bytes, count = std::min(pages.size() / bytes, kTimedCalls);
  PageStore store(store_options(options, count));
  std::vector<double> seconds(count);
  std::vector<std::byte> page(bytes);
  // The first round only warms up: the store still has to allocate its memory.
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < count; ++i) {
      const Clock::time_point begin = Clock::now();
      store.put(i, pages.subspan(i * bytes, bytes));
      seconds[i] = seconds_since(begin);
    }
  survey.put = times_of(seconds);
  for (std::size_t i = 0; i < count; ++i) {
    const Clock::time_point begin = Clock::now();
    store.get(i, page);
    seconds[i] = seconds_since(begin);
    expect_same(pages.subspan(i * bytes, bytes), page);
  }
  survey.get = times_of(seconds);
}

BatchSpeed time_batches(std::span<const std::byte> pages, const PageBatchOptions& options,
                        std::uint64_t batch_pages) {
  const std::size_t bytes = options.page_bytes;
  const std::uint64_t in_all = pages.size() / bytes;
  BatchSpeed speed{.backend = options.backend, .pages = batch_pages};
  PageStore store(store_options(options, in_all));
  std::vector<std::uint64_t> numbers(in_all);
  for (std::uint64_t i = 0; i < in_all; ++i) numbers[i] = i;
  std::vector<std::byte> got(pages.size());
  // Runs batch after batch, again and again. The first round is not timed, so that all memory exists.
  const auto run = [&](const auto& call) {
    double best = 0;
    for (int round = 0; round < 2; ++round) {
      std::uint64_t done = 0, next = 0;
      const Clock::time_point begin = Clock::now();
      while (done < in_all || (round != 0 && seconds_since(begin) < kLeastSeconds)) {
        const std::uint64_t count = std::min(batch_pages, in_all - next);
        call(next, count);
        done += count;
        next = (next + count) % in_all;
      }
      best = double(done * bytes) / seconds_since(begin) / 1e9;
    }
    return best;
  };
  speed.put_gbps = run([&](std::uint64_t first, std::uint64_t count) {
    store.put_many(std::span(numbers).subspan(first, count), pages.subspan(first * bytes, count * bytes));
  });
  speed.get_gbps = run([&](std::uint64_t first, std::uint64_t count) {
    store.get_many(std::span(numbers).subspan(first, count),
                   std::span(got).subspan(first * bytes, count * bytes));
  });
  expect_same(pages, got);
  return speed;
}

}  // namespace

double PageSurvey::ratio() const {
  return kept.kept_bytes == 0 ? 0 : double(kept.pages * page_bytes) / double(kept.kept_bytes);
}

double PageSurvey::ratio_with_bookkeeping() const {
  return kept.memory_bytes == 0 ? 0 : double(kept.pages * page_bytes) / double(kept.memory_bytes);
}

std::uint64_t PageSurvey::crossing_pages() const {
  std::map<std::uint64_t, BatchSpeed> processor;
  for (const BatchSpeed& speed : speeds)
    if (speed.backend == "cpu") processor[speed.pages] = speed;
  std::uint64_t crossing = 0;
  for (const BatchSpeed& speed : speeds) {
    const auto cpu = processor.find(speed.pages);
    if (speed.backend == "cpu" || cpu == processor.end()) continue;
    if (speed.put_gbps > cpu->second.put_gbps && speed.get_gbps > cpu->second.get_gbps &&
        (crossing == 0 || speed.pages < crossing))
      crossing = speed.pages;
  }
  return crossing;
}

PageSurvey survey_pages(std::span<const std::byte> pages, const PageBatchOptions& options,
                        std::span<const std::string> backends) {
  PageBatchOptions on_cpu = options;
  on_cpu.backend = "cpu";
  on_cpu.device.clear();
  const std::size_t bytes = options.page_bytes, count = pages.size() / bytes;
  PageSurvey survey;
  survey.page_bytes = bytes;
  {
    PageStore store(store_options(on_cpu, count));
    for (std::size_t i = 0; i < count; ++i) {
      store.put(i, pages.subspan(i * bytes, bytes));
      KeptPage page;
      store.describe(i, page);
      const std::size_t size_class = std::uint64_t{page.bytes} * PageSurvey::kSizeClasses / bytes;
      ++survey.by_size[std::min(size_class, PageSurvey::kSizeClasses - 1)];
    }
    store.compact();
    survey.kept = store.statistics();
  }
  time_calls(pages, on_cpu, survey);
  std::vector<std::string> all = {"cpu"};
  for (const std::string& backend : backends)
    if (std::ranges::find(all, backend) == all.end()) all.push_back(backend);
  for (const std::string& backend : all) {
    PageBatchOptions of = backend == "cpu" ? on_cpu : options;
    of.backend = backend;
    for (const std::uint64_t batch_pages : kSurveyedBatches)
      if (batch_pages <= count) survey.speeds.push_back(time_batches(pages, of, batch_pages));
  }
  return survey;
}

namespace {

constexpr const char* kInk = "#222";
constexpr std::array<const char*, 4> kColours = {"#2f6db5", "#c2571a", "#2e8b57", "#7a4ea3"};
constexpr double kPanelLeft = 60, kPanelWidth = 420, kPanelTop = 60, kPanelHeight = 220, kPanelStep = 540;

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                     anchor, kInk, xml_text(text));
}

std::string line_at(double x1, double y1, double x2, double y2, std::string_view more) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     more);
}

std::string sizes_panel(const PageSurvey& survey) {
  const std::uint64_t most = std::max<std::uint64_t>(1, *std::ranges::max_element(survey.by_size));
  const double width = kPanelWidth / PageSurvey::kSizeClasses;
  std::string svg = text_at(kPanelLeft, kPanelTop - 14, "start", "pages by kept bytes");
  for (std::size_t i = 0; i < PageSurvey::kSizeClasses; ++i) {
    const double height = kPanelHeight * double(survey.by_size[i]) / double(most);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                       kPanelLeft + width * double(i) + 1, kPanelTop + kPanelHeight - height, width - 2,
                       height, kColours[0]);
    if (i % 4 == 0)
      svg += text_at(kPanelLeft + width * double(i), kPanelTop + kPanelHeight + 18, "middle",
                     fmt::format("{}", survey.page_bytes * i / PageSurvey::kSizeClasses));
  }
  svg += text_at(kPanelLeft + kPanelWidth, kPanelTop + kPanelHeight + 18, "middle",
                 fmt::format("{}", survey.page_bytes));
  return svg + text_at(kPanelLeft - 6, kPanelTop + 10, "end", fmt::format("{}", most)) +
         line_at(kPanelLeft, kPanelTop + kPanelHeight, kPanelLeft + kPanelWidth, kPanelTop + kPanelHeight,
                 "stroke=\"#222\"");
}

std::string speeds_panel(const PageSurvey& survey) {
  const double left = kPanelLeft + kPanelStep;
  double most = 0.1;
  for (const BatchSpeed& speed : survey.speeds) most = std::max({most, speed.put_gbps, speed.get_gbps});
  const auto x_of = [&](std::uint64_t pages) { return left + kPanelWidth * std::log10(double(pages)) / 5; };
  const auto y_of = [&](double gbps) { return kPanelTop + kPanelHeight * (1 - gbps / most); };
  std::string svg = text_at(left, kPanelTop - 14, "start", "GB/s by pages a call; put dashed, get solid");
  for (const std::uint64_t pages : kSurveyedBatches)
    svg += text_at(x_of(pages), kPanelTop + kPanelHeight + 18, "middle", fmt::format("{}", pages));
  svg += text_at(left - 6, kPanelTop + 10, "end", fmt::format("{:.1f}", most));
  std::vector<std::string> backends;
  for (std::size_t i = 0; i < survey.speeds.size(); ++i) {
    const BatchSpeed& speed = survey.speeds[i];
    if (backends.empty() || backends.back() != speed.backend) {
      backends.push_back(speed.backend);
      const double y = kPanelTop + kPanelHeight + 24 + 16 * double(backends.size());
      svg += line_at(left, y - 4, left + 20, y - 4,
                     fmt::format("stroke=\"{}\"", kColours[(backends.size() - 1) % 4]));
      svg += text_at(left + 26, y, "start", speed.backend);
      continue;
    }
    const BatchSpeed& before = survey.speeds[i - 1];
    const char* const colour = kColours[(backends.size() - 1) % 4];
    svg += line_at(x_of(before.pages), y_of(before.put_gbps), x_of(speed.pages), y_of(speed.put_gbps),
                   fmt::format("stroke=\"{}\" stroke-dasharray=\"5 3\"", colour));
    svg += line_at(x_of(before.pages), y_of(before.get_gbps), x_of(speed.pages), y_of(speed.get_gbps),
                   fmt::format("stroke=\"{}\"", colour));
  }
  if (const std::uint64_t crossing = survey.crossing_pages(); crossing != 0)
    svg += line_at(x_of(crossing), kPanelTop, x_of(crossing), kPanelTop + kPanelHeight,
                   "stroke=\"#999\" stroke-dasharray=\"2 3\"");
  return svg + line_at(left, kPanelTop + kPanelHeight, left + kPanelWidth, kPanelTop + kPanelHeight,
                       "stroke=\"#222\"");
}

}  // namespace

std::string page_survey_svg(const PageSurvey& survey, std::string_view name) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1060\" height=\"380\" font-family=\"sans-serif\" "
         "font-size=\"12\">\n<rect width=\"1060\" height=\"380\" fill=\"#fff\"/>\n" +
         text_at(kPanelLeft, 24, "start", name) + sizes_panel(survey) + speeds_panel(survey) + "</svg>\n";
}

}  // namespace hemstitch
