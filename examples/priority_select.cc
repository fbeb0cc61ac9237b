// priority_select.cc -- what is urgent goes first, however much else waits.
//
// Of several channels that are ready, Select chooses one at random, so that
// none is forgotten; SelectInOrder chooses the first. As any select it looks at
// them anew each time: an alarm overtakes all that is on the list already.

#include <cstdio>

#include "gorge/gorge.h"

namespace {

struct Task {
  const char* name;
  const char* alarm = nullptr;  // What it sets off.
};

// Does what there is to do, until there is nothing left.
void Cook(const gorge::RecvChan<Task>& list,
          const gorge::Chan<const char*>& alarms) {
  bool more = true;
  while (more) {
    gorge::SelectInOrder(
        gorge::OnRecv(alarms,
                      [](const char* alarm) { std::printf("! %s\n", alarm); }),
        gorge::OnRecv(list,
                      [&](const Task& task) {
                        std::printf("  %s\n", task.name);
                        if (task.alarm != nullptr) alarms.Send(task.alarm);
                      }),
        gorge::OnDefault([&] { more = false; }));
  }
}

}  // namespace

int main() {
  return gorge::Run([] {
    const auto list = gorge::MakeChan<Task>(10);
    const auto alarms = gorge::MakeChan<const char*>(10);
    for (const Task& task :
         {Task{"chop the onions"}, Task{"fry the onions", "put out the fire"},
          Task{"boil the pasta", "turn down the heat"},
          Task{"grate the cheese"}}) {
      list.Send(task);
    }
    alarms.Send("answer the door");
    Cook(list, alarms);
  });
}
