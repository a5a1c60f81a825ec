// Folders and files by descriptor, while names change between two calls, which no script can time.
#include "cli/files/walk/folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/files/files.hpp"
#include "cli/files/output/temporary_files.hpp"

namespace hemstitch::cli {
namespace {

namespace fs = std::filesystem;

class Folders : public testing::Test {
 protected:
  Folders() {
    fs::create_directories(path("sub"));
    write("sub/file", "inside");
  }
  ~Folders() override { fs::remove_all(top_); }

  std::string path(const std::string& name) const { return top_ + '/' + name; }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name)) << content;
  }

  // Opens so many other folders that none of the earlier ones stays open.
  void forget_opened() const {
    fs::create_directories(path("others"));
    const Folder others(path("others/"));
    for (int i = 0; i < 1100; ++i) EXPECT_TRUE(others.open_to_list());
  }

  static std::string new_folder() {
    std::string name = (fs::temp_directory_path() / "hemstitch-folders-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }

  std::string top_ = new_folder();
  std::shared_ptr<const Folder> top_folder_ = std::make_shared<Folder>(top_ + '/');
  std::shared_ptr<const Folder> sub_ = std::make_shared<Folder>(top_folder_, "sub");
};

TEST_F(Folders, AreKnownAgain) {
  ASSERT_TRUE(sub_->open_to_list());
  const Folder::Identity identity = sub_->identity();
  forget_opened();
  ASSERT_TRUE(sub_->open());
  EXPECT_EQ(sub_->identity(), identity);
  EXPECT_EQ(sub_->path(), path("sub"));
}

TEST_F(Folders, StayTheSameWhileTheyAreOpen) {
  const OpenFolder open = sub_->open();
  fs::rename(path("sub"), path("moved"));
  fs::create_directory(path("sub"));
  EXPECT_EQ(sub_->open(), open);
  struct stat status {};
  EXPECT_TRUE((FileName{sub_, "file"}.stat(status)));
}

TEST_F(Folders, AreNotOthersOfTheirName) {
  ASSERT_TRUE(sub_->open_to_list());
  forget_opened();
  fs::rename(path("sub"), path("moved"));
  fs::create_directory(path("sub"));
  write("sub/file", "another");
  EXPECT_FALSE(sub_->open());
  EXPECT_EQ(errno, ESTALE);
  EXPECT_LT((FileName{sub_, "file"}.open(O_RDONLY)), 0);
}

TEST_F(Folders, AreNotWhatLinksLeadTo) {
  ASSERT_TRUE(sub_->open_to_list());
  forget_opened();
  fs::rename(path("sub"), path("moved"));
  fs::create_symlink("moved", path("sub"));
  EXPECT_FALSE(sub_->open());
  EXPECT_FALSE(std::make_shared<Folder>(top_folder_, "sub")->open_to_list());
  EXPECT_FALSE((FileName{sub_, "file"}.unlink()));
  EXPECT_TRUE(fs::exists(path("moved/file")));
  EXPECT_TRUE(Folder(path("sub/")).open());  // as on the command line
}

TEST_F(Folders, ManyEndOneAfterTheOther) {
  auto folder = sub_;
  for (int depth = 0; depth < 1'000'000; ++depth) folder = std::make_shared<Folder>(folder, "d");
  EXPECT_GT(folder->path().size(), 2'000'000U);
}

TEST_F(Folders, AreOpenInBoundedNumber) {
  const auto count = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  forget_opened();
  const auto before = count();
  std::vector<std::shared_ptr<const Folder>> folders;
  for (int i = 0; i < 3000; ++i) {
    folders.push_back(std::make_shared<Folder>(top_ + '/'));
    ASSERT_TRUE(folders.back()->open());
  }
  EXPECT_EQ(count(), before);
}

TEST_F(Folders, FilesInThemAreNotWhatTookTheirNames) {
  EXPECT_NO_THROW((FileSource(FileName{sub_, "file"})));
  write("elsewhere", "secret");
  fs::remove(path("sub/file"));
  fs::create_symlink("../elsewhere", path("sub/file"));
  EXPECT_THROW((FileSource(FileName{sub_, "file"})), ToolError);
  EXPECT_NO_THROW(FileSource(path("sub/file")));  // as an argument
  fs::remove(path("sub/file"));
  ASSERT_EQ(mkfifo(path("sub/file").c_str(), 0600), 0);
  EXPECT_THROW((FileSource(FileName{sub_, "file"})), ToolError);  // and does not wait for a writer
}

TEST_F(Folders, TemporaryFilesAreLeftOverOnceNobodyHoldsThem) {
  const std::string name = new_temporary_name();
  EXPECT_TRUE(is_temporary_name(name));
  EXPECT_FALSE(is_temporary_name(name + "0"));
  EXPECT_FALSE(is_temporary_name(".hemstitch-0123456G"));
  const FileName file{sub_, name};
  Descriptor growing(open(path("sub/" + name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_FALSE(is_left_over(file));  // empty and new, so perhaps not locked yet
  mark_in_use(growing.number());
  ASSERT_EQ(::write(growing.number(), "x", 1), 1);
  EXPECT_FALSE(is_left_over(file));
  Descriptor held(fcntl(growing.number(), F_DUPFD_CLOEXEC, 0));
  growing = Descriptor();
  EXPECT_FALSE(is_left_over(file));
  held = Descriptor();
  EXPECT_TRUE(is_left_over(file));
}

}  // namespace
}  // namespace hemstitch::cli
