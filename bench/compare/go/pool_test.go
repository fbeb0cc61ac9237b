package compare

import (
	"sync"
	"testing"
)

func newInt() any { return new(int) }

func BenchmarkPool(b *testing.B) {
	p := sync.Pool{New: newInt}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.Put(p.Get())
		}
	})
}

func BenchmarkPoolOverflow(b *testing.B) {
	p := sync.Pool{New: newInt}
	b.RunParallel(func(pb *testing.PB) {
		var items [100]any
		for pb.Next() {
			for i := range items {
				items[i] = p.Get()
			}
			for i := range items {
				p.Put(items[i])
			}
		}
	})
}

func BenchmarkPoolStarvation(b *testing.B) {
	p := sync.Pool{New: newInt}
	b.RunParallel(func(pb *testing.PB) {
		var items [12]any
		for pb.Next() {
			for i := range items {
				items[i] = p.Get()
			}
			for i := 0; i < 10; i++ {
				p.Put(items[i])
			}
		}
	})
}
