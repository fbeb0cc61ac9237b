// xsync/single_flight.h -- one call where many want the same at once.
//
//   gorge::SingleFlight<std::string, Config> loads;
//   absl::StatusOr<Config> config =
//       loads.Do(name, [&] { return Load(name); }).value;

#ifndef GORGE_XSYNC_SINGLE_FLIGHT_H_
#define GORGE_XSYNC_SINGLE_FLIGHT_H_

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "gorge/chan/chan.h"
#include "gorge/chan/done_chan.h"
#include "gorge/core/go.h"
#include "gorge/sync/mutex.h"

namespace gorge {

// Whoever asks for a key while the function for it runs waits for that and
// shares its result. V is copyable. Must outlive its calls. Neither copyable
// nor movable.
//
// A function that calls Goexit leaves the others with an AbortedError.
//
// Go: golang.org/x/sync/singleflight.
template <class K, class V>
class SingleFlight {
 public:
  struct Result {
    absl::StatusOr<V> value;
    bool shared = false;  // It was given to several.
  };

  SingleFlight() = default;
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;

  // Calls f() -> absl::StatusOr<V>, or waits for the call of another.
  //
  // Blocks: while it runs.
  // Throws: what the function throws, in all who share it.
  template <class F>
  Result Do(const K& key, F&& f) {
    std::shared_ptr<Call> call;
    if (Join(key, call)) {
      static_cast<void>(call->ended.View().Recv());
    } else {
      Run(key, call, std::forward<F>(f));
    }
    if (call->thrown != nullptr) std::rethrow_exception(call->thrown);
    return call->result;
  }

  // The same in a goroutine of its own: the result comes on the channel, which
  // has room for it. Should the function throw, the process ends.
  //
  // Blocks: never.
  template <class F>
  [[nodiscard]] RecvChan<Result> DoChan(const K& key, F&& f) {
    const auto channel = MakeChan<Result>(1);
    std::shared_ptr<Call> call;
    const bool joined = Join(key, call, channel);
    if (!joined) {
      go([this, key, call,
          function = std::decay_t<F>(std::forward<F>(f))]() mutable {
        Run(key, call, std::move(function));
        if (call->thrown != nullptr) std::rethrow_exception(call->thrown);
      });
    }
    return channel;
  }

  // The next who asks for `key` starts a call of its own. Those who share the
  // one that runs now get its result.
  //
  // Blocks: never.
  void Forget(const K& key) {
    const std::lock_guard hold(mutex_);
    calls_.erase(key);
  }

 private:
  using ResultChan = Chan<Result>;

  struct Call {
    // Set before `ended` is closed, and not changed after.
    Result result{
        absl::AbortedError("singleflight: the function called Goexit"), false};
    std::exception_ptr thrown;
    const DoneChan ended = MakeDoneChan();
    // Guarded by mutex_ until then.
    std::vector<ResultChan> channels;
  };

  // True if there is a call for `key` already; else the caller has to Run this
  // one.
  bool Join(const K& key, std::shared_ptr<Call>& call,
            const ResultChan& channel = {}) {
    const std::lock_guard hold(mutex_);
    std::shared_ptr<Call>& current = calls_[key];
    const bool joined = current != nullptr;
    if (joined) {
      current->result.shared = true;
    } else {
      current = std::make_shared<Call>();
    }
    if (channel) current->channels.push_back(channel);
    call = current;
    return joined;
  }

  template <class F>
  void Run(const K& key, const std::shared_ptr<Call>& call, F&& f) {
    // Also if the function calls Goexit.
    struct Ending {
      SingleFlight& flight;
      const K& key;
      const std::shared_ptr<Call>& call;
      ~Ending() { flight.End(key, call); }
    } ending{*this, key, call};
    try {
      call->result.value = std::invoke(std::forward<F>(f));
    } catch (...) {
      call->thrown = std::current_exception();
      if (call->thrown == nullptr) throw;  // Goexit.
    }
  }

  void End(const K& key, const std::shared_ptr<Call>& call) {
    std::vector<ResultChan> channels;
    {
      const std::lock_guard hold(mutex_);
      const auto it = calls_.find(key);
      if (it != calls_.end() && it->second == call) calls_.erase(it);
      channels.swap(call->channels);
    }
    call->ended.Close();
    if (call->thrown != nullptr) {
      // There is no other way to tell them.
      if (!channels.empty())
        go([thrown = call->thrown] { std::rethrow_exception(thrown); });
      return;
    }
    for (const ResultChan& channel : channels) channel.Send(call->result);
  }

  Mutex mutex_;
  absl::flat_hash_map<K, std::shared_ptr<Call>> calls_;  // Guarded by mutex_.
};

}  // namespace gorge

#endif  // GORGE_XSYNC_SINGLE_FLIGHT_H_
