// request_tree.cc -- a request that makes requests, and has no time to lose.
//
// Each call hands its context on, and with it for whom it works and for how
// long. The ads have less time than the page they are for. When it is over, all
// that was called for them ends, however deep, and the page comes without.

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gorge/gorge.h"

namespace {

constexpr gorge::Key<std::string> kUser("user");

struct Call {
  std::string name;
  std::vector<Call> calls = {};  // What it needs.
  absl::Duration timeout = absl::InfiniteDuration();
  bool answers = true;
};

// What became of `call` and of all below it, a line for each.
std::string Serve(const gorge::Context& parent, const Call& call,
                  const std::string& indent = "") {
  const auto [ctx, cancel] = gorge::WithTimeout(parent, call.timeout);
  std::vector<std::string> below(call.calls.size());
  gorge::WaitGroup all;
  for (std::size_t i = 0; i < below.size(); ++i) {
    all.Go([&, &ctx = ctx, i] {
      below[i] = Serve(ctx, call.calls[i], indent + "  ");
    });
  }
  all.Wait();
  if (!call.answers) ctx.Done().Recv();
  std::string report =
      absl::StrCat(indent, call.name, " for ", *ctx.Value(kUser), ": ",
                   ctx.Err().ok() ? "done" : ctx.Err().message(), "\n");
  for (const std::string& line : below) report += line;
  return report;
}

}  // namespace

int main() {
  return gorge::Run([] {
    const Call auction{"auction", {{.name = "bidder", .answers = false}}};
    const Call ads{"ads", {auction}, absl::Milliseconds(10)};
    const Call news{"news", {{"sports"}, {"weather"}}};
    const Call page{"page", {news, ads}, absl::Hours(1)};
    const auto ctx = gorge::WithValue(gorge::Background(), kUser, "gopher");
    std::fputs(Serve(ctx, page).c_str(), stdout);
  });
}
