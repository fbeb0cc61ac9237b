// tests/support/temp_dir.h -- a directory that goes away with the test.

#ifndef GORGE_TESTS_SUPPORT_TEMP_DIR_H_
#define GORGE_TESTS_SUPPORT_TEMP_DIR_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace gorge::testing {

class TempDir {
 public:
  TempDir() {
    std::string name = ::testing::TempDir() + "gorge-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ / name; }

  // Writes a file, and makes the directories above it.
  void Write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  void Link(std::string_view name, const std::string& target) const {
    std::filesystem::create_symlink(target, path_ / name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_TEMP_DIR_H_
