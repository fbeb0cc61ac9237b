#include "gorge/tests/support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <utility>

namespace gorge::testing {
namespace {

void Check(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

// The reading and the writing end.
std::pair<int, int> Pipe() {
  int ends[2];
  Check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  Check(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0, "F_SETPIPE_SZ");
  return {ends[0], ends[1]};
}

std::pair<int, int> Terminal() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  Check(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0,
        "posix_openpt");
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  Check(slave >= 0, "ptsname");
  return {master, slave};
}

pid_t Spawn(const std::vector<std::string>& words, int out, int err) {
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);

  pid_t pid = 0;
  Check(posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(),
                     environ) == 0,
        argv[0]);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

Child::Child(const std::vector<std::string>& words, Stderr stderr_kind) {
  const auto [out, child_out] = Pipe();
  const auto [err, child_err] =
      stderr_kind == Stderr::kTerminal ? Terminal() : Pipe();
  pid_ = Spawn(words, child_out, child_err);
  close(child_out);
  close(child_err);
  out_ = out;
  err_ = err;
}

Child::~Child() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

void Child::AwaitStderr() {
  pollfd fd{err_, POLLIN, 0};
  while (poll(&fd, 1, -1) <= 0) continue;
}

void Child::AwaitStderr(const std::string& text) {
  while (err_text_.find(text) == err_text_.npos && Read(err_, err_text_)) {
    continue;
  }
}

void Child::Kill(int signal) { kill(pid_, signal); }

bool Child::HasEnded() {
  siginfo_t info{};
  // Leaves it for Wait.
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == pid_;
}

Ended Child::Wait() {
  std::array<pollfd, 2> fds{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  std::array<std::string*, 2> texts{&out_text_, &err_text_};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds.data(), fds.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      // poll leaves negative ones out.
      if (!Read(fds[i].fd, *texts[i])) fds[i].fd = -1;
    }
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  reaped_ = true;
  Ended ended{.out = std::move(out_text_), .err = std::move(err_text_)};
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

bool Child::Read(int fd, std::string& text) {
  char buffer[4096];
  const ssize_t size = read(fd, buffer, sizeof(buffer));
  // A terminal that nobody has open any more is an error, and an end.
  if (size <= 0) return false;
  text.append(buffer, static_cast<std::size_t>(size));
  return true;
}

Ended RunChild(const std::vector<std::string>& words) {
  return Child(words).Wait();
}

}  // namespace gorge::testing
