// sync/pool.h -- things that are used again instead of made anew.
//
//   gorge::Pool<Buffer> buffers([] { return Buffer(64 << 10); });
//   {
//     gorge::Pooled<Buffer> buffer = buffers.Get();
//     buffer->Fill();
//   }  // Given back.

#ifndef GORGE_SYNC_POOL_H_
#define GORGE_SYNC_POOL_H_

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "gorge/sync/internal/pool_core.h"

namespace gorge {

template <class T>
class Pool;

// A T out of a pool, which its destructor gives back. Like std::unique_ptr:
// moved, not copied; null when moved from, released or default-constructed.
// The pool outlives it.
template <class T>
class [[nodiscard]] Pooled {
 public:
  Pooled() = default;
  Pooled(Pooled&& other) noexcept
      : pool_(other.pool_), item_(std::exchange(other.item_, nullptr)) {}
  Pooled& operator=(Pooled&& other) noexcept {
    Pooled old(std::move(*this));
    pool_ = other.pool_;
    item_ = std::exchange(other.item_, nullptr);
    return *this;
  }
  ~Pooled() { reset(); }

  T& operator*() const { return *item_; }
  T* operator->() const { return item_; }
  T* get() const { return item_; }
  explicit operator bool() const { return item_ != nullptr; }

  // Gives it back now.
  //
  // Blocks: never.
  void reset() {
    if (T* const item = std::exchange(item_, nullptr)) {
      pool_->Put(std::unique_ptr<T>(item));
    }
  }

  // Keeps it: it does not go back to the pool.
  [[nodiscard]] std::unique_ptr<T> release() {
    return std::unique_ptr<T>(std::exchange(item_, nullptr));
  }

 private:
  friend class Pool<T>;
  Pooled(Pool<T>& pool, std::unique_ptr<T> item)
      : pool_(&pool), item_(item.release()) {}

  Pool<T>* pool_ = nullptr;
  T* item_ = nullptr;
};

// Holds things that nobody uses at the moment, for any number of goroutines and
// threads. An item comes out as it was put in; which one, and whether there is
// one, is not certain. What nobody has wanted for some ten seconds is destroyed
// by a later Put; see Age.
//
// Destructors of items may run in any call of Put and Age, never under a lock,
// and may use the pool. May be destroyed when all calls have returned and all
// handles are gone; what is in it is destroyed too. Constant-initialisable when
// default-constructed; neither copyable nor movable.
//
// Ordering: what precedes the Put of an item happens before the return of the
//           Get that yields it.
// Go:       sync.Pool.
template <class T>
class Pool {
 public:
  // Makes new items by T().
  constexpr Pool() requires std::default_initializable<T>
  = default;

  // Makes new items by make(), which returns a T or a std::unique_ptr<T>. Many
  // may call it at once.
  template <class Make>
  requires std::invocable<Make&>
  explicit Pool(Make make)
      : factory_(std::make_unique<FactoryOf<Make>>(std::move(make))) {}

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Returns an item, a new one if there is none.
  //
  // Blocks: if the factory does.
  // Throws: what the factory throws.
  Pooled<T> Get() {
    if (void* const item = core_.Get()) [[likely]] {
      return Pooled<T>(*this, std::unique_ptr<T>(static_cast<T*>(item)));
    }
    return Pooled<T>(*this, Make());
  }

  // Adds an item, its own or a new one; null is ignored.
  //
  // Blocks: never.
  void Put(std::unique_ptr<T> item) {
    if (item != nullptr) core_.Put(item.release());
  }
  void Put(T item) requires std::move_constructible<T> {
    Put(std::make_unique<T>(std::move(item)));
  }
  void Put(Pooled<T> item) { Put(item.release()); }

  // Destroys what nobody has wanted since the last Age but one. Called from
  // time to time by Put; call it to give memory back sooner.
  //
  // Blocks: never.
  void Age() { core_.Age(); }

 private:
  struct Factory {
    virtual ~Factory() = default;
    virtual std::unique_ptr<T> Make() = 0;
  };

  template <class F>
  struct FactoryOf final : Factory {
    explicit FactoryOf(F&& f) : make(std::move(f)) {}
    std::unique_ptr<T> Make() override {
      if constexpr (std::is_same_v<std::invoke_result_t<F&>,
                                   std::unique_ptr<T>>) {
        return make();
      } else {
        return std::unique_ptr<T>(new T(make()));
      }
    }
    F make;
  };

  std::unique_ptr<T> Make() {
    if (factory_ != nullptr) return factory_->Make();
    if constexpr (std::default_initializable<T>) {
      return std::unique_ptr<T>(new T());
    } else {
      return nullptr;  // There is a factory.
    }
  }

  static void Destroy(void* item) { delete static_cast<T*>(item); }

  std::unique_ptr<Factory> factory_;
  internal::PoolCore core_{&Destroy};
};

}  // namespace gorge

#endif  // GORGE_SYNC_POOL_H_
