// The twins of bench/goroutine_bench.cc and bench/wait_group_bench.cc.

package compare

import (
	"runtime"
	"sync"
	"testing"
)

func startChain(length int, chains *sync.WaitGroup) {
	if length == 0 {
		chains.Done()
		return
	}
	go startChain(length-1, chains)
}

func BenchmarkCreateGoroutines(b *testing.B) {
	var chains sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for p := 0; p < procs; p++ {
		chains.Add(1)
		startChain(b.N/procs, &chains)
	}
	chains.Wait()
}

func BenchmarkCreateGoroutinesParallel(b *testing.B) {
	b.RunParallel(func(share *testing.PB) {
		var ended sync.WaitGroup
		for share.Next() {
			ended.Add(1)
			go func() { ended.Done() }()
			ended.Wait()
		}
	})
}

func BenchmarkCreateGoroutinesCapture(b *testing.B) {
	for i := 0; i < b.N; i++ {
		var ended sync.WaitGroup
		ended.Add(4)
		for k := 0; k < 4; k++ {
			i, k := i, k
			go func() {
				if i+k < 0 {
					panic("never")
				}
				ended.Done()
			}()
		}
		ended.Wait()
	}
}

func BenchmarkCreateGoroutinesBurst(b *testing.B) {
	var ended sync.WaitGroup
	for i := 0; i < b.N; i++ {
		ended.Add(1)
		go func() { ended.Done() }()
		if i%1000 == 999 {
			ended.Wait()
		}
	}
	ended.Wait()
}

func BenchmarkYieldThousand(b *testing.B) {
	const goroutines = 1000
	var all sync.WaitGroup
	for k := 0; k < goroutines; k++ {
		all.Add(1)
		go func(k int) {
			for i := k; i < b.N; i += goroutines {
				runtime.Gosched()
			}
			all.Done()
		}(k)
	}
	all.Wait()
}

func BenchmarkPingPong(b *testing.B) {
	ping := make(chan int)
	pong := make(chan int)
	var partner sync.WaitGroup
	partner.Add(1)
	go func() {
		for ball := range ping {
			pong <- ball
		}
		partner.Done()
	}()
	for i := 0; i < b.N; i++ {
		ping <- 0
		<-pong
	}
	close(ping)
	partner.Wait()
}

func passAround(b *testing.B, size int) {
	links := make([]chan int, size)
	for i := range links {
		links[i] = make(chan int)
	}
	var ring sync.WaitGroup
	for i := range links {
		ring.Add(1)
		go func(in, out chan int) {
			for left := 1; left > 0; {
				left = <-in
				if left > 1-size {
					out <- left - 1
				}
			}
			ring.Done()
		}(links[i], links[(i+1)%size])
	}
	links[0] <- b.N
	ring.Wait()
}

func BenchmarkRing10(b *testing.B)    { passAround(b, 10) }
func BenchmarkRing100(b *testing.B)   { passAround(b, 100) }
func BenchmarkRing1000(b *testing.B)  { passAround(b, 1000) }
func BenchmarkRing10000(b *testing.B) { passAround(b, 10000) }

func skynet(result chan int, first, size int) {
	if size == 1 {
		result <- first
		return
	}
	parts := make(chan int)
	for i := 0; i < 10; i++ {
		go skynet(parts, first+i*(size/10), size/10)
	}
	sum := 0
	for i := 0; i < 10; i++ {
		sum += <-parts
	}
	result <- sum
}

func BenchmarkSkynet(b *testing.B) {
	for i := 0; i < b.N; i++ {
		result := make(chan int)
		go skynet(result, 0, 100000)
		<-result
	}
}

func BenchmarkWaitGroupUncontended(b *testing.B) {
	type padded struct {
		sync.WaitGroup
		_ [128]byte
	}
	b.RunParallel(func(share *testing.PB) {
		var group padded
		for share.Next() {
			group.Add(1)
			group.Done()
			group.Wait()
		}
	})
}

func BenchmarkWaitGroupAddDone(b *testing.B) {
	var group sync.WaitGroup
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			group.Add(1)
			group.Done()
		}
	})
}

func BenchmarkWaitGroupWait(b *testing.B) {
	var group sync.WaitGroup
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			group.Wait()
		}
	})
}

func BenchmarkWaitGroupActuallyWait(b *testing.B) {
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			var group sync.WaitGroup
			group.Add(1)
			go func() { group.Done() }()
			group.Wait()
		}
	})
}
