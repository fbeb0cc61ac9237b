// gorge.h -- everything that gorge offers, in one include.

#ifndef GORGE_GORGE_H_
#define GORGE_GORGE_H_

// IWYU pragma: begin_exports
#include "gorge/chan/chan.h"
#include "gorge/chan/done_chan.h"
#include "gorge/context/context.h"
#include "gorge/context/propagation.h"
#include "gorge/core/go.h"
#include "gorge/core/panic.h"
#include "gorge/core/runtime.h"
#include "gorge/select/select.h"
#include "gorge/select/selector.h"
#include "gorge/sync/cond.h"
#include "gorge/sync/map.h"
#include "gorge/sync/mutex.h"
#include "gorge/sync/once.h"
#include "gorge/sync/pool.h"
#include "gorge/sync/rw_mutex.h"
#include "gorge/sync/wait_group.h"
#include "gorge/time/ticker.h"
#include "gorge/time/time.h"
#include "gorge/time/timer.h"
#include "gorge/xsync/err_group.h"
#include "gorge/xsync/semaphore.h"
#include "gorge/xsync/single_flight.h"
// IWYU pragma: end_exports

#endif  // GORGE_GORGE_H_
