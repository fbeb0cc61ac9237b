// core/internal/steal.h -- what a machine without work looks at: the queues and
// timers of the other Ps. When it does so, idle.h says.

#ifndef GORGE_CORE_INTERNAL_STEAL_H_
#define GORGE_CORE_INTERNAL_STEAL_H_

#include <cstdint>

#include "gorge/core/internal/goroutine.h"
#include "gorge/core/internal/machine.h"

namespace gorge::internal {

bool RingsHaveWork(const Crew& crew);
bool RunnextsHaveWork(const Crew& crew);
// When the next timer of all Ps is due.
std::int64_t NextTimer(const Crew& crew);

// Looks through the rings of all Ps a few times. Moves half of what one has to
// the machine's own P, and returns one of that; null if all are empty.
G* StealFromRings(Machine& machine);

// Runs the due timers of all Ps but the machine's own. True if there were some.
bool RunTimersOfOthers(Machine& machine);

// What a spinning machine saw of the others.
struct Sight {
  G* stranded = nullptr;  // A runnext, taken from a P that picks nothing.
  bool work = false;      // Some queue has work.
  bool hot = false;       // Some P picks goroutines.
};

// Watches the others, for a stranded runnext above all; not for long.
Sight Watch(Machine& machine);

}  // namespace gorge::internal

#endif  // GORGE_CORE_INTERNAL_STEAL_H_
