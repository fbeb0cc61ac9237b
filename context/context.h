// context/context.h -- cancellation, deadlines and values for a tree of calls.
//
//   void Serve(const gorge::Context& parent, Request request) {
//     auto [ctx, cancel] = gorge::WithTimeout(parent, absl::Seconds(1));
//     gorge::Select(
//         gorge::OnRecv(Fetch(ctx, request), [&](Reply reply) { ... }),
//         gorge::OnRecv(ctx.Done(), [&] { Fail(request, ctx.Err()); }));
//   }  // Whoever still works on it is told to stop.
//
// Go counterpart: package context.

#ifndef GORGE_CONTEXT_CONTEXT_H_
#define GORGE_CONTEXT_CONTEXT_H_

// IWYU pragma: begin_exports
#include "gorge/context/after_func.h"
#include "gorge/context/cancel.h"
#include "gorge/context/deadline.h"
#include "gorge/context/handle.h"
#include "gorge/context/interface.h"
#include "gorge/context/stop_token.h"
#include "gorge/context/value.h"
// IWYU pragma: end_exports

#endif  // GORGE_CONTEXT_CONTEXT_H_
