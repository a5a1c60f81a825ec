// The choice by `auto`, as data: worked cases, monotony, and the figures that are kept of a machine.
#include "hemstitch/choice.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/choice/kept_figures.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {
namespace {

constexpr std::uint64_t kKB = 1000, kMB = 1000 * kKB, kGB = 1000 * kMB;

BackendCandidate candidate(BackendFacts facts) {
  const auto figures = default_figures(facts);
  return {std::move(facts), figures};
}

BackendCandidate cpu(unsigned cores) {
  return candidate({.backend = "cpu", .kind = BackendKind::kProcessor, .units = cores});
}

BackendCandidate h200() {
  return candidate({.backend = "cuda",
                    .kind = BackendKind::kDevice,
                    .device = "NVIDIA H200",
                    .units = 132,
                    .memory_gbps = 4917,
                    .bus_gbps = 55});
}

BackendCandidate t4() {
  return candidate({.backend = "cuda",
                    .kind = BackendKind::kDevice,
                    .device = "Tesla T4",
                    .units = 40,
                    .memory_gbps = 320,
                    .bus_gbps = 13.75});
}

Workload files(Direction direction, int level, std::optional<std::uint64_t> bytes) {
  return {.direction = direction,
          .level = level,
          .content_bytes = bytes,
          .from = DataPlace::kFile,
          .to = DataPlace::kFile};
}

BackendChoice choose(std::vector<BackendCandidate> candidates, const Workload& work, unsigned cores = 16) {
  return select_backend(candidates, default_host_figures(cores), work);
}

double seconds(const BackendCandidate& one, const Workload& work, unsigned cores = 16) {
  return predict(one.facts, *one.figures, default_host_figures(cores), work)->total;
}

// The rows of the newest recorded run of a series: bench/results/DATE-SERIES.json.
nlohmann::json newest_rows(const std::string& series) {
  constexpr std::size_t kDateDigits = sizeof("2026-11-25-") - 1;
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(HEMSTITCH_RESULTS_FOLDER)) {
    const std::string name = entry.path().filename();
    if (name.size() > kDateDigits && name.substr(kDateDigits) == series + ".json")
      newest = std::max(newest, entry.path());
  }
  return nlohmann::json::parse(std::ifstream(newest)).at("rows");
}

Direction direction_of(const nlohmann::json& row) {
  return row.at("what").get<std::string>().ends_with("compress") ? Direction::kCompress : Direction::kRestore;
}

// The same work on both backends, as recorded and as predicted.
struct Recorded {
  Workload work;
  std::map<std::string, double> took;
};

// Predictions within the factor, from a size on, and for every size a choice that takes at most kMostLoss longer than
// the better backend took.
constexpr double kMostLoss = 1.1;
void expect_as_recorded(const std::map<std::string, Recorded>& all, const std::vector<BackendCandidate>& both,
                        double factor, std::uint64_t factor_from_bytes) {
  for (const auto& [name, recorded] : all) {
    ASSERT_EQ(recorded.took.size(), 2u) << name;
    for (const BackendCandidate& one : both) {
      if (*recorded.work.content_bytes < factor_from_bytes) continue;
      const double took = recorded.took.at(one.facts.backend);
      const double predicted = seconds(one, recorded.work);
      EXPECT_GT(predicted, took / factor) << name << ", " << one.facts.backend;
      EXPECT_LT(predicted, took * factor) << name << ", " << one.facts.backend;
    }
    const double better = std::min(recorded.took.at("cpu"), recorded.took.at("cuda"));
    EXPECT_LE(recorded.took.at(choose(both, recorded.work).backend), kMostLoss * better) << name;
  }
}

// Whole processes on the host of an H200, their start included. Below 64 MB the processor has less blocks than would
// keep its cores busy, which the model does not know; there, the choice alone is held.
TEST(Choice, PredictsWhatWasRecorded) {
  std::map<std::string, Recorded> all;
  for (const auto& row : newest_rows("nvidia-h200-device-sizes")) {
    if (row.at("span") != "process" || row.at("backend") == "auto") continue;
    const int level = row.at("level");
    const std::uint64_t bytes = row.at("bytes");
    Recorded& recorded =
        all[row.at("what").get<std::string>() + " " + std::to_string(level) + " " + std::to_string(bytes)];
    recorded.work = files(direction_of(row), level, bytes);
    recorded.took[row.at("backend")] = row.at("milliseconds").get<double>() / 1000;
  }
  EXPECT_GE(all.size(), 60u);
  expect_as_recorded(all, {cpu(16), h200()}, 1.4, 64 << 20);
}

TEST(Choice, WorkedCasesOfAnH200WithSixteenCores) {
  const std::vector<BackendCandidate> both = {cpu(16), h200()};
  const struct {
    Direction direction;
    int level;
    std::uint64_t bytes;
    const char* backend;
  } cases[] = {
      {Direction::kCompress, 1, 4 * kKB, "cpu"},
      {Direction::kCompress, 9, 4 * kKB, "cpu"},
      {Direction::kCompress, 12, 64 * kKB, "cpu"},
      {Direction::kCompress, 9, 16 * kMB, "cpu"},
      {Direction::kCompress, 3, 256 * kMB, "cpu"},
      {Direction::kCompress, 9, 256 * kMB, "cuda"},
      {Direction::kCompress, 3, 4 * kGB, "cuda"},
      {Direction::kCompress, 9, 4 * kGB, "cuda"},
      {Direction::kCompress, 3, 1 * kGB, "cuda"},
      {Direction::kCompress, 1, 1 * kGB, "cpu"},
      {Direction::kRestore, 1, 1 * kGB, "cpu"},
      // Cores that do not compute write faster.
      {Direction::kCompress, 1, 8 * kGB, "cuda"},
      {Direction::kRestore, 1, 8 * kGB, "cuda"},
  };
  for (const auto& one : cases) {
    const BackendChoice choice = choose(both, files(one.direction, one.level, one.bytes));
    EXPECT_EQ(choice.backend, one.backend) << one.level << " " << one.bytes << ": " << choice.reason;
    ASSERT_EQ(choice.predictions.size(), 2u);
    EXPECT_TRUE(choice.predictions[0].seconds && choice.predictions[1].seconds);
    EXPECT_NE(choice.reason.find(" s"), std::string::npos);
  }
}

// 100 to 100,000 pages of 4 KB, in calls of a process that has started its device.
TEST(Choice, PagesAreOneOfManyCalls) {
  BackendCandidate started = h200();
  started.facts.is_started = true;
  std::map<std::string, Recorded> all;
  for (const auto& row : newest_rows("nvidia-h200-device-pages")) {
    const std::string what = row.at("what");
    if (!what.starts_with("page batch: ")) continue;
    const std::uint64_t pages = row.at("items");
    Recorded& recorded = all[what + " " + std::to_string(pages)];
    recorded.work = {.direction = direction_of(row), .content_bytes = pages * 4096, .pages = true};
    recorded.took[row.at("backend")] = row.at("microseconds").get<double>() / 1e6;
  }
  EXPECT_GE(all.size(), 12u);
  // One size took up to a third longer in one recorded run than in another.
  expect_as_recorded(all, {cpu(16), started}, 1.7, 0);
  const Workload batch{.content_bytes = 40'960'000, .pages = true};
  EXPECT_GT(seconds(h200(), batch), 0.3) << "it has to start first";
  // One page wakes up no other core, and no core takes as long for one as a call takes for many.
  EXPECT_LT(seconds(cpu(16), {.content_bytes = 4096, .pages = true}), 1e-5);
  EXPECT_LT(seconds(cpu(1), batch), 16 * seconds(cpu(16), batch));
}

// The more work the processor has, the less content makes a device worthwhile. At level 1 its libraries are
// fast.
TEST(Choice, DeflateHasFiguresOfItsOwn) {
  const auto least = [](int level) {
    std::vector<BackendCandidate> candidates = {cpu(16), h200()};
    for (BackendCandidate& one : candidates) one.figures = default_figures(one.facts, Format::kGzip);
    return least_content_bytes(
               "cuda", candidates, default_host_figures(16),
               {.format = Format::kGzip, .level = level, .from = DataPlace::kFile, .to = DataPlace::kFile})
        .value_or(UINT64_MAX);
  };
  EXPECT_LT(least(6), kGB);
  EXPECT_LT(least(12), least(6));
  EXPECT_GT(least(1), least(6));
}

// A stream is restored more slowly than blocks, above all on the processor.
TEST(Choice, StreamsHaveFiguresOfTheirOwn) {
  const auto figures = [](const char* backend, Format format) {
    return *default_figures({.backend = backend}, format);
  };
  for (const char* backend : {"cpu", "cuda"}) {
    EXPECT_LT(figures(backend, Format::kZlib).restore, figures(backend, Format::kBgzf).restore);
    EXPECT_EQ(figures(backend, Format::kZlib).compress, figures(backend, Format::kBgzf).compress);
  }
  std::vector<BackendCandidate> candidates = {cpu(16), h200()};
  for (BackendCandidate& one : candidates) one.figures = default_figures(one.facts, Format::kGzip);
  const auto chosen = [&](std::uint64_t compressed_bytes) {
    return select_backend(candidates, default_host_figures(16),
                          {.direction = Direction::kRestore,
                           .format = Format::kGzip,
                           .compressed_bytes = compressed_bytes,
                           .from = DataPlace::kFile,
                           .to = DataPlace::kNowhere})
        .backend;
  };
  EXPECT_EQ(chosen(100 * kMB), "cpu");
  EXPECT_EQ(chosen(4 * kGB), "cuda");
}

TEST(Choice, WhereDataStandsDecides) {
  const std::vector<BackendCandidate> both = {cpu(16), h200()};
  Workload work{.level = 1, .content_bytes = 16 * kGB};
  EXPECT_EQ(choose(both, work).backend, "cuda");  // no file system is involved
  work.direction = Direction::kRestore;
  work.from = DataPlace::kFile;
  work.to = DataPlace::kDevice;
  EXPECT_EQ(choose(both, work).backend, "cuda");
  // Data that stays on the device never crosses the bus.
  work.from = DataPlace::kDevice;
  const auto inside = predict(both[1].facts, *both[1].figures, default_host_figures(16), work);
  EXPECT_EQ(inside->upload, 0);
  EXPECT_EQ(inside->download, 0);
  const auto outside = predict(both[0].facts, *both[0].figures, default_host_figures(16), work);
  EXPECT_GT(outside->upload, 0);
  EXPECT_GT(outside->download, 0);
}

TEST(Choice, UnknownSizesAreTheProcessors) {
  const BackendChoice choice = choose({cpu(2), h200()}, files(Direction::kCompress, 12, std::nullopt));
  EXPECT_EQ(choice.backend, "cpu");
  EXPECT_EQ(choice.reason, "size not known");
  EXPECT_FALSE(choice.predictions[1].seconds);
  // One of the two sizes is enough.
  Workload work = files(Direction::kRestore, 1, std::nullopt);
  work.compressed_bytes = kGB;
  EXPECT_TRUE(choose({cpu(2), h200()}, work).predictions[1].seconds);
}

TEST(Choice, WhatAHeaderClaimsIsHeldAgainstTheFile) {
  Workload work = files(Direction::kRestore, 1, 1000 * kGB);
  work.compressed_bytes = 100;
  EXPECT_LT(seconds(cpu(2), work), 0.01);
  // If the file is longer than the content of the first frame, other frames follow.
  work.content_bytes = 1000;
  work.compressed_bytes = kGB;
  EXPECT_GT(seconds(cpu(2), work), 0.5);
}

TEST(Choice, SoftwareAndWhatWasNotMeasuredAreNeverChosen) {
  BackendCandidate software = h200();
  software.facts.kind = BackendKind::kSoftware;
  const BackendFacts webgpu{.backend = "webgpu", .kind = BackendKind::kDevice, .device = "some GPU"};
  EXPECT_FALSE(default_figures(webgpu));
  for (const BackendCandidate& other : {software, BackendCandidate{webgpu, std::nullopt}}) {
    const BackendChoice choice = choose({cpu(1), other}, files(Direction::kCompress, 12, 1000 * kGB));
    EXPECT_EQ(choice.backend, "cpu");
    EXPECT_FALSE(choice.predictions[1].why_not.empty());
    EXPECT_NE(choice.reason.find(choice.predictions[1].why_not), std::string::npos);
  }
  EXPECT_THROW(choose({h200()}, files(Direction::kCompress, 1, kGB)), Error);
}

TEST(Choice, LinkedBlocksAreRestoredByTheProcessor) {
  Workload work{.direction = Direction::kRestore, .content_bytes = 100 * kGB};
  EXPECT_EQ(choose({cpu(2), h200()}, work, 2).backend, "cuda");
  work.linked_blocks = true;
  EXPECT_EQ(choose({cpu(2), h200()}, work, 2).backend, "cpu");
  work.direction = Direction::kCompress;  // many threads compress at once
  EXPECT_EQ(choose({cpu(2), h200()}, work, 2).backend, "cuda");
}

TEST(Choice, TheFastestOfSeveralDevices) {
  BackendCandidate other = t4();
  other.facts.backend = "webgpu";
  EXPECT_EQ(choose({cpu(16), other, h200()}, files(Direction::kCompress, 9, 4 * kGB)).backend, "cuda");
  EXPECT_EQ(choose({cpu(16), h200(), other}, files(Direction::kCompress, 9, 4 * kGB)).backend, "cuda");
}

TEST(Choice, AStartedDeviceCostsNoStart) {
  BackendCandidate started = h200();
  started.facts.is_started = true;
  const Workload work = files(Direction::kCompress, 9, 16 * kMB);
  EXPECT_EQ(choose({cpu(16), h200()}, work).backend, "cpu");
  EXPECT_EQ(choose({cpu(16), started}, work).backend, "cuda");
}

TEST(Choice, GrowsWithTheSizeAndShrinksWithTheHardware) {
  for (const Direction direction : {Direction::kCompress, Direction::kRestore}) {
    for (const int level : {1, 2, 5, 9, 12}) {
      for (const BackendCandidate& one : {cpu(2), cpu(64), h200(), t4()}) {
        double before = 0;
        for (std::uint64_t bytes = 1; bytes < 1000 * kGB; bytes *= 3) {
          const double now = seconds(one, files(direction, level, bytes));
          EXPECT_GT(now, before);
          before = now;
        }
      }
      const Workload work = files(direction, level, 10 * kGB);
      EXPECT_LE(seconds(cpu(64), work), seconds(cpu(2), work));
      EXPECT_LT(seconds(h200(), work), seconds(t4(), work));
    }
  }
  for (int level = kMinLevel; level < kMaxLevel; ++level)
    EXPECT_LT(seconds(cpu(2), files(Direction::kCompress, level, kGB)),
              seconds(cpu(2), files(Direction::kCompress, level + 1, kGB)));
}

TEST(Choice, WhatIsTakenOnceIsTakenForAllThatIsLarger) {
  const HostFigures host = default_host_figures(16);
  for (const BackendCandidate& device : {h200(), t4()}) {
    const std::vector<BackendCandidate> both = {cpu(16), device};
    for (int level = kMinLevel; level <= kMaxLevel; ++level) {
      const Workload work = files(Direction::kCompress, level, std::nullopt);
      const auto least = least_content_bytes("cuda", both, host, work);
      for (std::uint64_t bytes = 1; bytes < 10000 * kGB; bytes *= 2)
        EXPECT_EQ(choose(both, files(Direction::kCompress, level, bytes)).backend,
                  least && bytes >= *least ? "cuda" : "cpu")
            << level << " " << bytes;
    }
  }
  BackendCandidate slow = h200();
  slow.figures->restore = 1;
  EXPECT_FALSE(
      least_content_bytes("cuda", std::vector{cpu(16), slow}, host, files(Direction::kRestore, 1, {})));
}

TEST(Choice, StagesOverlapAsFarAsTheFiguresSay) {
  BackendFigures figures{.compress = {1, 1, 1, 1, 1}, .restore = 1, .bus_gbps = 2, .overlap = 1};
  const HostFigures host{
      .read_gbps = 4, .write_gbps = 4, .copy_gbps = 4, .to_device_gbps = 1, .from_device_gbps = 1};
  const BackendFacts facts{.backend = "x", .kind = BackendKind::kDevice};
  Workload work = files(Direction::kCompress, 1, kGB);
  EXPECT_NEAR(predict(facts, figures, host, work)->total, 1, 1e-9);
  EXPECT_EQ(predict(facts, figures, host, work)->longest(), "kernel");
  figures.overlap = 0;
  const auto one_by_one = predict(facts, figures, host, work);
  EXPECT_NEAR(
      one_by_one->total,
      one_by_one->read + one_by_one->upload + one_by_one->kernel + one_by_one->download + one_by_one->write,
      1e-9);
  EXPECT_NEAR(one_by_one->read, 0.25, 1e-9);
  EXPECT_NEAR(one_by_one->upload, 0.5, 1e-9);
  figures.start_seconds = 7;
  EXPECT_EQ(predict(facts, figures, host, work)->longest(), "start");
}

// The cases of founding document 004, sections 1.3 and 4.2.
TEST(TransferRule, TheDocumentsCases) {
  const TransferRule small = transfer_rule(1000 * 4096, 30, 25);
  EXPECT_NEAR(small.transfer_seconds, 0.32e-3, 0.01e-3);
  EXPECT_NEAR(small.least_kernel_seconds, 1.6e-3, 0.05e-3);
  EXPECT_NEAR(small.kernel_seconds, 0.13e-3, 0.01e-3);
  EXPECT_FALSE(small.is_satisfied);
  const TransferRule large = transfer_rule(5000 * 4096, 30, 25);
  EXPECT_NEAR(large.transfer_seconds, 1.6e-3, 0.05e-3);
  EXPECT_NEAR(large.least_kernel_seconds, 8e-3, 0.2e-3);
  EXPECT_NEAR(large.kernel_seconds, 0.67e-3, 0.02e-3);
  EXPECT_FALSE(large.is_satisfied);
}

TEST(TransferRule, RewardsSlowKernelsAndSlowMeansNoGain) {
  EXPECT_FALSE(transfer_rule(kGB, 30, 25).is_satisfied);
  EXPECT_TRUE(transfer_rule(kGB, 2, 25).is_satisfied);  // but the processor is faster
  BackendCandidate slow = h200();
  for (double& rate : slow.figures->compress) rate = 2;
  Workload work{.level = 1, .content_bytes = 16 * kGB};
  EXPECT_EQ(choose({cpu(16), slow}, work).backend, "cpu");
  EXPECT_EQ(choose({cpu(16), h200()}, work).backend, "cuda");
}

// Uses a cache folder of its own.
class KeptFiguresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cache_ = std::filesystem::temp_directory_path() / ("hemstitch-figures-" + std::to_string(getpid()));
    std::filesystem::remove_all(cache_);
    std::filesystem::create_directory(cache_);
    setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    kept_.cores = 16;
    kept_.host = default_host_figures(16);
    kept_.rows.push_back({"cpu", "", *cpu(16).figures});
    kept_.rows.push_back({"cuda", "NVIDIA H200", *h200().figures});
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(cache_);
  }
  std::filesystem::path file() const { return cache_ / "hemstitch" / "figures"; }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  std::string written() const {
    std::ifstream stream(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path cache_;
  KeptFigures kept_;
};

TEST_F(KeptFiguresTest, ComeBackAsTheyWere) {
  EXPECT_FALSE(load_figures());
  EXPECT_EQ(keep_figures(kept_), file());
  const auto loaded = load_figures();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(figures_text(*loaded), figures_text(kept_));
  EXPECT_EQ(loaded->of("cuda")->device, "NVIDIA H200");
  EXPECT_EQ(loaded->of("cuda")->figures.compress, h200().figures->compress);
  EXPECT_EQ(loaded->of("webgpu"), nullptr);
}

TEST_F(KeptFiguresTest, AreTheOwnersAloneAndReplacedWhole) {
  const mode_t mask = umask(0);
  keep_figures(kept_);
  umask(mask);
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(stat(file().parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  // Another file takes the name; a process that has the old one open continues to read that.
  std::ifstream old(file());
  kept_.cores = 3;
  keep_figures(kept_);
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(old), {}), written());
  EXPECT_EQ(load_figures()->cores, 3u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file().parent_path()), {}), 1);
}

TEST_F(KeptFiguresTest, DamagedOnesAreNone) {
  keep_figures(kept_);
  const std::string whole = written();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write(whole.substr(0, bytes));
    EXPECT_FALSE(load_figures()) << bytes;
  }
  for (const char* bad : {"nan", "inf", "-inf", "x", "1e999", "0x10", "1,5"}) {
    std::string text = whole;
    const std::size_t at = text.find("host ") + 5;
    write(text.replace(at, text.find(' ', at) - at, bad));
    EXPECT_FALSE(load_figures()) << bad;
  }
  write(whole + "more\n");
  EXPECT_FALSE(load_figures());
  write(std::string(1 << 20, 'x'));
  EXPECT_FALSE(load_figures());
  // With any byte changed, the file is read or refused, and its values are always within the limits.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 0x11);
    const auto loaded = parse_figures(text);
    for (const auto& row : loaded ? loaded->rows : std::vector<KeptFigures::Row>())
      for (const double rate : row.figures.compress) EXPECT_TRUE(rate >= 1e-4 && rate <= 1e5);
  }
  write(whole);
  EXPECT_TRUE(load_figures());
}

TEST_F(KeptFiguresTest, AreClamped) {
  kept_.host.read_gbps = 1e300;
  kept_.host.write_gbps = -5;
  kept_.rows[0].figures.start_seconds = 1e9;
  kept_.rows[0].figures.compress[2] = 0;
  kept_.rows[0].figures.overlap = 2;
  const auto loaded = parse_figures(figures_text(kept_));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->host.read_gbps, 1e5);
  EXPECT_EQ(loaded->host.write_gbps, 1e-4);
  EXPECT_EQ(loaded->of("cpu")->figures.start_seconds, 60);
  EXPECT_EQ(loaded->of("cpu")->figures.compress[2], 1e-4);
  EXPECT_EQ(loaded->of("cpu")->figures.overlap, 1);
}

TEST_F(KeptFiguresTest, LinksPipesAndWhatOthersMayWriteAreNotBelieved) {
  keep_figures(kept_);
  const auto elsewhere = cache_ / "elsewhere";
  std::filesystem::rename(file(), elsewhere);
  EXPECT_FALSE(load_figures());
  std::filesystem::create_symlink(elsewhere, file());
  EXPECT_FALSE(load_figures());
  // A link in place of the file is replaced, not written through.
  const auto before = std::filesystem::file_size(elsewhere);
  kept_.rows.pop_back();
  keep_figures(kept_);
  EXPECT_TRUE(load_figures());
  EXPECT_FALSE(std::filesystem::is_symlink(file()));
  EXPECT_EQ(std::filesystem::file_size(elsewhere), before);

  chmod(file().c_str(), 0620);
  EXPECT_FALSE(load_figures());
  chmod(file().c_str(), 0600);
  EXPECT_TRUE(load_figures());
  std::filesystem::create_hard_link(file(), cache_ / "second");
  EXPECT_FALSE(load_figures());

  std::filesystem::remove(file());
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_FALSE(load_figures());

  // The folder must not be a link either.
  std::filesystem::remove_all(file().parent_path());
  std::filesystem::create_directory(cache_ / "other");
  std::filesystem::create_directory_symlink(cache_ / "other", cache_ / "hemstitch");
  EXPECT_THROW(keep_figures(kept_), Error);
  EXPECT_TRUE(std::filesystem::is_empty(cache_ / "other"));
}

// As under sudo, if the environment names another user's home.
TEST_F(KeptFiguresTest, NothingIsLeftInAnotherUsersHome) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's folder";
  const auto home = cache_ / "home";
  std::filesystem::create_directory(home);
  constexpr uid_t kNobody = 65534;
  const auto try_all = [&](const char* what) {
    EXPECT_THROW(keep_figures(kept_), Error) << what;
    EXPECT_FALSE(load_figures()) << what;
  };
  ASSERT_EQ(chown(home.c_str(), kNobody, kNobody), 0);
  unsetenv("XDG_CACHE_HOME");
  const std::string home_before = getenv("HOME") != nullptr ? getenv("HOME") : "";
  setenv("HOME", home.c_str(), 1);
  try_all("no cache folder yet");
  EXPECT_TRUE(std::filesystem::is_empty(home));
  std::filesystem::create_directory(home / ".cache");
  ASSERT_EQ(chown((home / ".cache").c_str(), kNobody, kNobody), 0);
  try_all("a cache folder");
  EXPECT_TRUE(std::filesystem::is_empty(home / ".cache"));
  setenv("HOME", home_before.c_str(), 1);

  // Another user's file in our folder is not believed.
  setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
  keep_figures(kept_);
  ASSERT_EQ(chown(file().c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(load_figures());
}

TEST_F(KeptFiguresTest, TheFoldersAreMadeWhereTheyAreMissing) {
  setenv("XDG_CACHE_HOME", (cache_ / "new").c_str(), 1);
  keep_figures(kept_);
  EXPECT_TRUE(load_figures());
  setenv("XDG_CACHE_HOME", (cache_ / "no" / "such").c_str(), 1);
  EXPECT_THROW(keep_figures(kept_), Error);
  setenv("XDG_CACHE_HOME", "relative", 1);  // counts as unset, according to the XDG specification
  const std::string home_before = getenv("HOME") != nullptr ? getenv("HOME") : "";
  setenv("HOME", cache_.c_str(), 1);
  EXPECT_EQ(keep_figures(kept_), cache_ / ".cache" / "hemstitch" / "figures");
  unsetenv("HOME");
  EXPECT_THROW(keep_figures(kept_), Error);
  EXPECT_FALSE(load_figures());
  setenv("HOME", home_before.c_str(), 1);
}

}  // namespace
}  // namespace hemstitch
