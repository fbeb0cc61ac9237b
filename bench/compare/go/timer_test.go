package compare

import (
	"sync"
	"testing"
	"time"
)

func BenchmarkAfter(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			<-time.After(1)
		}
	})
}

func BenchmarkNewTimerStop(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			time.NewTimer(time.Second).Stop()
		}
	})
}

func BenchmarkReset(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		timer := time.NewTimer(time.Hour)
		for pb.Next() {
			timer.Reset(time.Hour)
		}
		timer.Stop()
	})
}

func BenchmarkTimerFuncStop(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			time.AfterFunc(time.Second, func() {}).Stop()
		}
	})
}

func BenchmarkStartStop1000(b *testing.B) {
	timers := make([]*time.Timer, 1000)
	for i := 0; i < b.N; i++ {
		for k := range timers {
			timers[k] = time.AfterFunc(time.Hour, func() {})
		}
		for _, timer := range timers {
			timer.Stop()
		}
	}
}

func BenchmarkAfterFunc1000(b *testing.B) {
	for i := 0; i < b.N; i++ {
		var all sync.WaitGroup
		all.Add(1000)
		for k := 0; k < 1000; k++ {
			time.AfterFunc(0, all.Done)
		}
		all.Wait()
	}
}

func BenchmarkSleep1000(b *testing.B) {
	for i := 0; i < b.N; i++ {
		var all sync.WaitGroup
		all.Add(1000)
		for k := 0; k < 1000; k++ {
			go func() {
				time.Sleep(50)
				all.Done()
			}()
		}
		all.Wait()
	}
}
