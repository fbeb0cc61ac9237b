// The twins of bench/basic_bench.cc.

package compare

import (
	"runtime"
	"sync"
	"testing"
)

func BenchmarkMessage(b *testing.B) {
	c := make(chan int)
	var receiver sync.WaitGroup
	receiver.Add(1)
	go func() {
		for range c {
		}
		receiver.Done()
	}()
	for i := 0; i < b.N; i++ {
		c <- 1
	}
	close(c)
	receiver.Wait()
}

func BenchmarkBufferedPair(b *testing.B) {
	c := make(chan int, 1)
	for i := 0; i < b.N; i++ {
		c <- 1
		<-c
	}
}

func BenchmarkGoAndFinish(b *testing.B) {
	var chain sync.WaitGroup
	chain.Add(1)
	startChain(b.N, &chain)
	chain.Wait()
}

func BenchmarkYield(b *testing.B) {
	var both sync.WaitGroup
	for k := 0; k < 2; k++ {
		both.Add(1)
		go func(k int) {
			for i := k; i < b.N; i += 2 {
				runtime.Gosched()
			}
			both.Done()
		}(k)
	}
	both.Wait()
}

func BenchmarkSelectReady(b *testing.B) {
	full := make(chan int, 1)
	empty := make(chan int, 1)
	for i := 0; i < b.N; i++ {
		full <- 1
		select {
		case <-full:
		case <-empty:
		}
	}
}
