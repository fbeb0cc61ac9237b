// tests/support/child.h -- runs a program and looks at what it does.

#ifndef GORGE_TESTS_SUPPORT_CHILD_H_
#define GORGE_TESTS_SUPPORT_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace gorge::testing {

// How a program ended.
struct Ended {
  int status = -1;  // What it returned; -1: a signal ended it.
  int signal = 0;   // The signal that did.
  std::string out;  // What it wrote to stdout
  std::string err;  // and to stderr.
};

// A running program. What it writes stays in pipes of one page each until
// somebody asks for it: a program that writes more waits there, in write(), and
// a test can change the world around it meanwhile.
class Child {
 public:
  enum class Stderr { kPipe, kTerminal };

  // Starts words[0], looked up in PATH, with every signal at its default.
  explicit Child(const std::vector<std::string>& words,
                 Stderr stderr_kind = Stderr::kPipe);
  ~Child();  // Kills it if nobody has waited.
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Returns once it has written something to stderr, and leaves that there.
  void AwaitStderr();

  // Reads stderr until `text` has come, or the end.
  void AwaitStderr(const std::string& text);

  void Kill(int signal);

  // Whether it has ended. Does not wait.
  bool HasEnded();

  // Reads all that is left and waits for the end.
  Ended Wait();

 private:
  // Appends what there is to read; false at the end.
  static bool Read(int fd, std::string& text);

  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
  std::string out_text_;
  std::string err_text_;
  bool reaped_ = false;
};

// Runs a program to its end.
Ended RunChild(const std::vector<std::string>& words);

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_CHILD_H_
