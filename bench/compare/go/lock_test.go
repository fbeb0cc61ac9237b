package compare

import (
	"sync"
	"testing"
)

func BenchmarkMutexUncontended(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		var own struct {
			sync.Mutex
			pad [128]byte
		}
		for pb.Next() {
			own.Lock()
			own.Unlock()
		}
	})
}

func lockAndUnlock(b *testing.B, slack, work bool) {
	var mu sync.Mutex
	if slack {
		b.SetParallelism(10)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			mu.Unlock()
			if work {
				compute(100)
			}
		}
	})
}

func BenchmarkMutex(b *testing.B)          { lockAndUnlock(b, false, false) }
func BenchmarkMutexSlack(b *testing.B)     { lockAndUnlock(b, true, false) }
func BenchmarkMutexWork(b *testing.B)      { lockAndUnlock(b, false, true) }
func BenchmarkMutexWorkSlack(b *testing.B) { lockAndUnlock(b, true, true) }

func BenchmarkRWMutexUncontended(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		var own struct {
			sync.RWMutex
			pad [128]byte
		}
		for pb.Next() {
			own.RLock()
			own.RLock()
			own.RUnlock()
			own.RUnlock()
			own.Lock()
			own.Unlock()
		}
	})
}

func readAndWrite(b *testing.B, ratio int) {
	var mu sync.RWMutex
	b.RunParallel(func(pb *testing.PB) {
		i := 0
		for pb.Next() {
			i++
			if i%ratio == 0 {
				mu.Lock()
				mu.Unlock()
			} else {
				mu.RLock()
				mu.RUnlock()
			}
		}
	})
}

func BenchmarkRWMutexWrite100(b *testing.B) { readAndWrite(b, 100) }
func BenchmarkRWMutexWrite10(b *testing.B)  { readAndWrite(b, 10) }

func BenchmarkOnce(b *testing.B) {
	var once sync.Once
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			once.Do(func() {})
		}
	})
}

// Waiters and one more that wake each other by turns.
func wakeEachOther(b *testing.B, waiters int) {
	cond := sync.NewCond(&sync.Mutex{})
	id := 0
	var all sync.WaitGroup
	for routine := 0; routine <= waiters; routine++ {
		routine := routine
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < b.N; i++ {
				cond.L.Lock()
				if id == -1 {
					cond.L.Unlock()
					break
				}
				if id == routine {
					id = (routine + 1) % (waiters + 1)
					cond.Broadcast()
				}
				cond.Wait()
				cond.L.Unlock()
			}
			cond.L.Lock()
			id = -1
			cond.Broadcast()
			cond.L.Unlock()
		}()
	}
	all.Wait()
}

func BenchmarkCond1(b *testing.B)  { wakeEachOther(b, 1) }
func BenchmarkCond8(b *testing.B)  { wakeEachOther(b, 8) }
func BenchmarkCond32(b *testing.B) { wakeEachOther(b, 32) }
