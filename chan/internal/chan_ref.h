// chan/internal/chan_ref.h -- what the three handles to a channel share.

#ifndef GORGE_CHAN_INTERNAL_CHAN_REF_H_
#define GORGE_CHAN_INTERNAL_CHAN_REF_H_

#include <utility>

#include "gorge/chan/internal/hchan.h"

namespace gorge::internal {

// A counted reference to a channel, or null. One handle is not for use by
// several threads while one of them assigns to it, as with std::shared_ptr.
class ChanRef {
 public:
  constexpr ChanRef() = default;
  // Takes over a reference that the caller has.
  explicit ChanRef(Hchan* hchan) : hchan_(hchan) {}
  ChanRef(const ChanRef& other) : hchan_(other.hchan_) {
    if (hchan_ != nullptr) hchan_->Ref();
  }
  ChanRef(ChanRef&& other) noexcept
      : hchan_(std::exchange(other.hchan_, nullptr)) {}
  ChanRef& operator=(const ChanRef& other) {
    ChanRef(other).Swap(*this);
    return *this;
  }
  ChanRef& operator=(ChanRef&& other) noexcept {
    ChanRef(std::move(other)).Swap(*this);
    return *this;
  }
  ~ChanRef() {
    if (hchan_ != nullptr) hchan_->Unref();
  }

  Hchan* get() const { return hchan_; }

 private:
  void Swap(ChanRef& other) { std::swap(hchan_, other.hchan_); }

  Hchan* hchan_ = nullptr;
};

// The way from a public handle to its channel, for chan/ and select/.
class ChanAccess {
 public:
  template <class Handle>
  static const ChanRef& Ref(const Handle& handle) {
    return handle.ref_;
  }
  template <class Handle>
  static ChanRef&& Ref(Handle&& handle) requires(
      !std::is_lvalue_reference_v<Handle>) {
    return std::move(handle.ref_);
  }
  template <class Handle>
  static Handle Make(ChanRef ref) {
    Handle handle;
    handle.ref_ = std::move(ref);
    return handle;
  }
};

}  // namespace gorge::internal

#endif  // GORGE_CHAN_INTERNAL_CHAN_REF_H_
