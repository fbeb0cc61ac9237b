// The twins of bench/select_bench.cc.

package compare

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
)

func BenchmarkSelectUncontended(b *testing.B) {
	b.RunParallel(func(share *testing.PB) {
		x := make(chan int, 1)
		y := make(chan int, 1)
		x <- 0
		for share.Next() {
			select {
			case <-x:
				y <- 0
			case <-y:
				x <- 0
			}
		}
	})
}

func BenchmarkSelectSyncContended(b *testing.B) {
	x := make(chan int)
	y := make(chan int)
	z := make(chan int)
	done := make(chan int)
	var senders sync.WaitGroup
	b.RunParallel(func(share *testing.PB) {
		senders.Add(1)
		go func() {
			defer senders.Done()
			for {
				select {
				case x <- 0:
				case y <- 0:
				case z <- 0:
				case <-done:
					return
				}
			}
		}()
		for share.Next() {
			select {
			case <-x:
			case <-y:
			case <-z:
			}
		}
	})
	close(done)
	senders.Wait()
}

func BenchmarkSelectAsyncContended(b *testing.B) {
	never := make(chan int, 1)
	b.RunParallel(func(share *testing.PB) {
		mine := make(chan int, 1)
		mine <- 0
		for share.Next() {
			select {
			case <-mine:
				mine <- 0
			case <-never:
			}
		}
	})
}

func BenchmarkSelectNonblock(b *testing.B) {
	unbufferedIn := make(chan int)
	unbufferedOut := make(chan int)
	buffered := make(chan int, 1)
	full := make(chan int, 1)
	full <- 0
	b.RunParallel(func(share *testing.PB) {
		for share.Next() {
			select {
			case <-unbufferedIn:
			default:
			}
			select {
			case unbufferedOut <- 0:
			default:
			}
			select {
			case <-buffered:
			default:
			}
			select {
			case full <- 0:
			default:
			}
		}
	})
}

func BenchmarkSelectProdCons(b *testing.B) {
	c := make(chan int, 128)
	never := make(chan int)
	left := newShare(b.N)
	var producers, consumers sync.WaitGroup
	for p := runtime.GOMAXPROCS(0); p > 0; p-- {
		producers.Add(1)
		go func() {
			share := left.part()
			for share.next() {
				select {
				case c <- 1:
				case <-never:
				}
			}
			producers.Done()
		}()
		consumers.Add(1)
		go func() {
			for more := true; more; {
				select {
				case _, more = <-c:
				case <-never:
				}
			}
			consumers.Done()
		}()
	}
	producers.Wait()
	close(c)
	consumers.Wait()
}

func BenchmarkSelector(b *testing.B) {
	var channels []chan int
	var cases []reflect.SelectCase
	for i := 0; i < 10; i++ {
		channels = append(channels, make(chan int, 1))
		cases = append(cases, reflect.SelectCase{
			Dir:  reflect.SelectRecv,
			Chan: reflect.ValueOf(channels[i]),
		})
	}
	for i := 0; i < b.N; i++ {
		channels[i%10] <- 0
		reflect.Select(cases)
	}
}
