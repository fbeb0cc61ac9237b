// latency [SECONDS]: what ../../../lock_latency.cc does, in Go.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func compute(length time.Duration) {
	for end := time.Now().Add(length); time.Now().Before(end); {
	}
}

type waits []time.Duration

func (w *waits) take(l sync.Locker) {
	start := time.Now()
	l.Lock()
	*w = append(*w, time.Since(start))
}

func (w waits) print(what string) {
	procs := runtime.GOMAXPROCS(0)
	if len(w) == 0 {
		fmt.Printf("%2d Ps  %-32s never got it\n", procs, what)
		return
	}
	sort.Slice(w, func(i, j int) bool { return w[i] < w[j] })
	at := func(part float64) float64 {
		return w[int(part*float64(len(w)-1))].Seconds() * 1e3
	}
	fmt.Printf("%2d Ps  %-32s %8d waits  median %7.3f ms  99.9 %% %7.3f ms  longest %7.3f ms\n",
		procs, what, len(w), at(0.5), at(0.999), at(1))
}

func hog(what string, hogs int, length time.Duration, hold func()) {
	var mutex sync.Mutex
	var over atomic.Bool
	var all sync.WaitGroup
	for i := 0; i < hogs; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for !over.Load() {
				mutex.Lock()
				hold()
				mutex.Unlock()
			}
		}()
	}
	var w waits
	for end := time.Now().Add(length); time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
		w.take(&mutex)
		mutex.Unlock()
	}
	over.Store(true)
	all.Wait()
	w.print(what)
}

func readAndWrite(length time.Duration) {
	const each = 16
	var mutex sync.RWMutex
	var all sync.WaitGroup
	end := time.Now().Add(length)
	work := func(l sync.Locker, w *waits) {
		defer all.Done()
		for time.Now().Before(end) {
			w.take(l)
			compute(10 * time.Microsecond)
			l.Unlock()
			compute(10 * time.Microsecond)
			runtime.Gosched()
		}
	}
	var reads, writes [each]waits
	all.Add(2 * each)
	for i := 0; i < each; i++ {
		go work(mutex.RLocker(), &reads[i])
		go work(&mutex, &writes[i])
	}
	all.Wait()
	for i := 1; i < each; i++ {
		reads[0] = append(reads[0], reads[i]...)
		writes[0] = append(writes[0], writes[i]...)
	}
	reads[0].print("16 readers among 16 writers")
	writes[0].print("16 writers among 16 readers")
}

func main() {
	length := 5 * time.Second
	if len(os.Args) > 1 {
		if n, err := strconv.Atoi(os.Args[1]); err == nil && n > 0 {
			length = time.Duration(n) * time.Second
		}
	}
	for _, procs := range []int{1, 2, 4, 16} {
		runtime.GOMAXPROCS(procs)
		busy := func() { compute(100 * time.Microsecond) }
		hog("against a hog that computes", 1, length, busy)
		hog("against 8 hogs that compute", 8, length, busy)
		hog("against a hog that sleeps", 1, length, func() { time.Sleep(100 * time.Microsecond) })
		readAndWrite(length)
	}
}
