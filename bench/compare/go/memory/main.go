// The twin of bench/memory_use.cc: what many parked goroutines cost.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func residentBytes() float64 {
	var total, resident float64
	statm, _ := os.ReadFile("/proc/self/statm")
	fmt.Sscan(string(statm), &total, &resident)
	return resident * float64(os.Getpagesize())
}

func countMappings() int {
	maps, _ := os.ReadFile("/proc/self/maps")
	return bytes.Count(maps, []byte("\n"))
}

func report(step string, start time.Time, before float64, count int) {
	took := time.Since(start)
	resident := residentBytes()
	fmt.Printf("%-6s %10.1f ms %8.0f ns each  RSS %8.1f MB %8.0f B each  %5d VMAs\n",
		step, float64(took.Nanoseconds())/1e6,
		float64(took.Nanoseconds())/float64(count), resident/1e6,
		(resident-before)/float64(count), countMappings())
}

func main() {
	count := 100000
	if len(os.Args) > 1 {
		count, _ = strconv.Atoi(os.Args[1])
	}
	before := residentBytes()
	gate := make(chan struct{})
	var arrived int64
	var ended sync.WaitGroup

	start := time.Now()
	for i := 0; i < count; i++ {
		ended.Add(1)
		go func() {
			atomic.AddInt64(&arrived, 1)
			<-gate
			ended.Done()
		}()
	}
	for atomic.LoadInt64(&arrived) < int64(count) {
		runtime.Gosched()
	}
	report("start", start, before, count)

	start = time.Now()
	close(gate)
	report("wake", start, before, count)
	start = time.Now()
	ended.Wait()
	report("end", start, before, count)

	start = time.Now()
	debug.FreeOSMemory()
	report("free", start, before, count)
}
