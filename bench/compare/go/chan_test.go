// The twins of bench/chan_bench.cc.

package compare

import (
	"runtime"
	"sync"
	"testing"
)

var (
	byteSink  chan byte
	intSink   chan int
	emptySink chan struct{}
	arraySink chan [5]int
)

func BenchmarkMakeChanByte(b *testing.B) {
	for i := 0; i < b.N; i++ {
		byteSink = make(chan byte, 8)
	}
}

func BenchmarkMakeChanInt(b *testing.B) {
	for i := 0; i < b.N; i++ {
		intSink = make(chan int, 8)
	}
}

func BenchmarkMakeChanStruct0(b *testing.B) {
	for i := 0; i < b.N; i++ {
		emptySink = make(chan struct{}, 8)
	}
}

func BenchmarkMakeChanStruct40(b *testing.B) {
	for i := 0; i < b.N; i++ {
		arraySink = make(chan [5]int, 8)
	}
}

func BenchmarkChanNonblocking(b *testing.B) {
	c := make(chan int)
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			select {
			case <-c:
			default:
			}
		}
	})
}

// An element in and out; a hundred in, then a hundred out.
func fillAndDrain(share *testing.PB, c chan int) {
	in := 0
	for share.Next() {
		c <- 0
		if in++; in < 100 {
			continue
		}
		for ; in > 0; in-- {
			<-c
		}
	}
	for ; in > 0; in-- {
		<-c
	}
}

func BenchmarkChanUncontended(b *testing.B) {
	b.RunParallel(func(share *testing.PB) {
		fillAndDrain(share, make(chan int, 100))
	})
}

func BenchmarkChanContended(b *testing.B) {
	c := make(chan int, 100*runtime.GOMAXPROCS(0))
	b.RunParallel(func(share *testing.PB) { fillAndDrain(share, c) })
}

func passMessages(b *testing.B, work int) {
	c := make(chan int)
	var both sync.WaitGroup
	both.Add(2)
	go func() {
		for i := 0; i < b.N; i += 2 {
			c <- 0
			compute(work)
			<-c
			compute(work)
		}
		both.Done()
	}()
	go func() {
		for i := 0; i < b.N; i += 2 {
			<-c
			compute(work)
			c <- 0
			compute(work)
		}
		both.Done()
	}()
	both.Wait()
}

func BenchmarkChanSync(b *testing.B)     { passMessages(b, 0) }
func BenchmarkChanSyncWork(b *testing.B) { passMessages(b, 1000) }

func produceAndConsume(b *testing.B, capacity, work int) {
	c := make(chan int, capacity)
	left := newShare(b.N)
	var producers, consumers sync.WaitGroup
	for p := runtime.GOMAXPROCS(0); p > 0; p-- {
		producers.Add(1)
		go func() {
			share := left.part()
			for share.next() {
				compute(work)
				c <- 1
			}
			producers.Done()
		}()
		consumers.Add(1)
		go func() {
			for range c {
				compute(work)
			}
			consumers.Done()
		}()
	}
	producers.Wait()
	close(c)
	consumers.Wait()
}

func BenchmarkChanProdCons0(b *testing.B)       { produceAndConsume(b, 0, 0) }
func BenchmarkChanProdCons10(b *testing.B)      { produceAndConsume(b, 10, 0) }
func BenchmarkChanProdCons100(b *testing.B)     { produceAndConsume(b, 100, 0) }
func BenchmarkChanProdConsWork0(b *testing.B)   { produceAndConsume(b, 0, 100) }
func BenchmarkChanProdConsWork10(b *testing.B)  { produceAndConsume(b, 10, 100) }
func BenchmarkChanProdConsWork100(b *testing.B) { produceAndConsume(b, 100, 100) }

func BenchmarkChanCreation(b *testing.B) {
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			c := make(chan int)
			go func() { c <- 0 }()
			<-c
		}
	})
}

func BenchmarkChanSem(b *testing.B) {
	c := make(chan struct{}, runtime.GOMAXPROCS(0))
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			c <- struct{}{}
			<-c
		}
	})
}

func BenchmarkChanPopular(b *testing.B) {
	const goroutines = 1000
	popular := make(chan bool)
	var own []chan bool
	var receivers sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		mine := make(chan bool)
		own = append(own, mine)
		receivers.Add(1)
		go func() {
			for k := 0; k < b.N; k++ {
				select {
				case <-popular:
				case <-mine:
				}
			}
			receivers.Done()
		}()
	}
	for k := 0; k < b.N; k++ {
		for _, c := range own {
			c <- true
		}
	}
	receivers.Wait()
}

func BenchmarkReceiveFromClosed(b *testing.B) {
	c := make(chan int, 10)
	close(c)
	for i := 0; i < b.N; i++ {
		<-c
	}
}

func BenchmarkChanClosed(b *testing.B) {
	c := make(chan struct{})
	close(c)
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			select {
			case <-c:
			default:
				b.Error("a closed channel blocks")
			}
		}
	})
}
