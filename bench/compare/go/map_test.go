package compare

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Fills a map, then calls step n times in all; see bench/map_bench.cc.
func benchMap(b *testing.B, setUp func(m *sync.Map), step func(m *sync.Map, i int)) {
	m := new(sync.Map)
	setUp(m)
	b.ResetTimer()
	var begin int64
	b.RunParallel(func(pb *testing.PB) {
		i := int(atomic.AddInt64(&begin, 1<<20) - 1<<20)
		for ; pb.Next(); i++ {
			step(m, i)
		}
	})
}

func nothing(*sync.Map) {}

func fill(count int) func(m *sync.Map) {
	return func(m *sync.Map) {
		for i := 0; i < count; i++ {
			m.Store(i, i)
		}
		for i := 0; i < 16*count; i++ {
			m.Load(i % count)
		}
	}
}

func BenchmarkMapLoadMostlyHits(b *testing.B) {
	benchMap(b, fill(1023), func(m *sync.Map, i int) { m.Load(i % 1024) })
}

func BenchmarkMapLoadMostlyMisses(b *testing.B) {
	benchMap(b, fill(1), func(m *sync.Map, i int) { m.Load(i % 1024) })
}

func BenchmarkMapLoadCollision(b *testing.B) {
	benchMap(b, fill(1), func(m *sync.Map, i int) { m.Load(0) })
}

func BenchmarkMapLoadOrStoreBalanced(b *testing.B) {
	benchMap(b, fill(128), func(m *sync.Map, i int) {
		if j := i % 256; j < 128 {
			m.LoadOrStore(j, i)
		} else {
			m.LoadOrStore(i, i)
		}
	})
}

func BenchmarkMapLoadOrStoreUnique(b *testing.B) {
	benchMap(b, nothing, func(m *sync.Map, i int) { m.LoadOrStore(i, i) })
}

func BenchmarkMapLoadOrStoreCollision(b *testing.B) {
	benchMap(b, fill(1), func(m *sync.Map, i int) { m.LoadOrStore(0, 0) })
}

func BenchmarkMapLoadAndDeleteBalanced(b *testing.B) {
	benchMap(b, fill(128), func(m *sync.Map, i int) {
		if j := i % 256; j < 128 {
			m.LoadAndDelete(j)
		} else {
			m.LoadAndDelete(i)
		}
	})
}

func BenchmarkMapLoadAndDeleteUnique(b *testing.B) {
	benchMap(b, nothing, func(m *sync.Map, i int) { m.LoadAndDelete(i) })
}

func BenchmarkMapLoadAndDeleteCollision(b *testing.B) {
	benchMap(b, fill(1), func(m *sync.Map, i int) {
		if i%2 == 0 {
			m.LoadAndDelete(0)
		} else {
			m.Store(0, 0)
		}
	})
}

func BenchmarkMapRange(b *testing.B) {
	benchMap(b, fill(1024), func(m *sync.Map, i int) {
		m.Range(func(_, _ any) bool { return true })
	})
}

func BenchmarkMapStoreDisjoint(b *testing.B) {
	benchMap(b, nothing, func(m *sync.Map, i int) {
		m.Store(i&^0xfffff|i%1024, i)
	})
}

func BenchmarkMapReadMostly(b *testing.B) {
	benchMap(b, fill(1024), func(m *sync.Map, i int) {
		if i%100 == 0 {
			m.Store(i%1024, i)
		} else {
			m.Load(i % 1024)
		}
	})
}
