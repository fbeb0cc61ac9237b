#include "gorge/examples/pipeline/read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/string_view.h"
#include "gorge/examples/pipeline/lexer.h"

namespace pipeline {
namespace {

// Small enough that a goroutine that reads asks often whether to stop, and does
// not keep the others from running for long.
constexpr std::size_t kPieceSize = 128 * 1024;

// On the heap: a goroutine's stack is small.
class Buffer {
 public:
  // Reads the next piece; empty at the end, nullopt on an error.
  std::optional<absl::string_view> Read(int fd) {
    ssize_t size;
    do {
      size = read(fd, bytes_.get(), kPieceSize);
    } while (size < 0 && errno == EINTR);
    if (size < 0) return std::nullopt;
    return absl::string_view(bytes_.get(), static_cast<std::size_t>(size));
  }

 private:
  const std::unique_ptr<char[]> bytes_ =
      std::make_unique_for_overwrite<char[]>(kPieceSize);
};

// Why the last system call failed. The walk has seen the file; if it is not
// there any more, that is worth its own words.
std::string LastError() {
  return errno == ENOENT ? "deleted meanwhile" : std::strerror(errno);
}

}  // namespace

std::optional<Finding> ReadFile(const std::string& path,
                                absl::FunctionRef<bool()> stopped) {
  const auto problem = [&path](std::string reason) {
    return Problem{path, std::move(reason)};
  };
  // Not blocking: by now it may be a pipe that nobody writes to.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return problem(LastError());
  const absl::Cleanup close_fd = [fd] { close(fd); };
  struct stat status;
  if (fstat(fd, &status) != 0) return problem(LastError());
  if (!S_ISREG(status.st_mode)) return problem("not a regular file");

  FileCount count{.path = path, .kind = KindOf(path), .words = {}};
  const auto count_word = [&](absl::string_view word) {
    count.words.Count(word);
  };
  Lexer lexer(count.kind->syntax);
  Buffer buffer;
  while (!stopped()) {
    const std::optional<absl::string_view> piece = buffer.Read(fd);
    if (!piece.has_value()) return problem(LastError());
    if (piece->empty()) {
      lexer.Finish(count_word);
      return count;
    }
    if (piece->find('\0') != piece->npos) return problem("binary file");
    count.bytes += static_cast<std::int64_t>(piece->size());
    count.lines += std::count(piece->begin(), piece->end(), '\n');
    lexer.Feed(*piece, count_word);
  }
  return std::nullopt;
}

}  // namespace pipeline
