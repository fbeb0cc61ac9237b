#!/usr/bin/env bash
# Checks that misuse which the compiler can see does not compile, and that what
# it says is the sentence meant for the user.
#
# Usage: compile_fail.sh COMPILER INCLUDE_DIR

set -uo pipefail
compiler=$1
include=$2
failed=0

# compile CODE: as the body of a function that has an open channel of int.
compile() {
  printf '%s\n' '#include <memory>' '#include "gorge/chan/chan.h"' \
    '#include "gorge/context/context.h"' '#include "gorge/select/select.h"' \
    '#include "gorge/sync/map.h"' '#include "gorge/sync/pool.h"' \
    'struct Throwing { Throwing(Throwing&&) noexcept(false); };' \
    'void Use(const gorge::Chan<int>& c) { using namespace gorge; (void)c;' \
    "$1" '}' |
    "$compiler" -std=c++20 -fsyntax-only -Wall -Werror -I"$include" -x c++ - 2>&1
}

accepts() {
  local said
  said=$(compile "$1") && return
  echo "does not compile: $1"
  echo "$said"
  failed=1
}

# rejects TEXT CODE: the compiler must refuse CODE and say TEXT.
rejects() {
  local said
  if said=$(compile "$2"); then
    echo "compiles: $2"
    failed=1
  elif [[ $said != *"$1"* ]]; then
    echo "refused, but without \"$1\": $2"
    echo "$said"
    failed=1
  fi
}

accepts 'c.Send(1); c.Recv(); Select(OnRecv(c), OnSend(c, 1), OnDefault());'
accepts '(void)MakeChan<std::unique_ptr<Throwing>>();'

rejects 'send a std::unique_ptr<T>' '(void)MakeChan<Throwing>();'
rejects 'at most one default' 'Select(OnDefault(), OnRecv(c), OnDefault());'
rejects 'a receive handler takes std::optional<T>, T or nothing' \
  'Select(OnRecv(c, [](int*) {}));'
rejects 'out is a T or a std::optional<T>' 'long out; Select(OnRecv(c, &out));'

rejects 'Load returns a copy' \
  'Map<int, std::unique_ptr<int>> m; (void)m.Load(1);'
rejects 'Pool' 'struct S { explicit S(int); }; Pool<S> pool;'

# Results that must not be overlooked.
rejects nodiscard 'c.TrySend(1);'
rejects nodiscard 'c.TryRecv();'
rejects nodiscard 'MakeChan<int>();'
rejects nodiscard 'OnRecv(c);'
rejects nodiscard 'OnSend(c, 1);'
rejects nodiscard 'OnDefault();'
rejects nodiscard 'WithCancel(Background());'
rejects nodiscard 'WithTimeout(Background(), absl::Seconds(1));'
rejects nodiscard 'WithoutCancel(Background());'
rejects nodiscard 'ToStopToken(Background());'
rejects nodiscard 'Map<int, int> m; m.Load(1);'
rejects nodiscard 'Pool<int> pool; pool.Get();'
rejects nodiscard 'Pool<int> pool; pool.Get().release();'

exit "$failed"
