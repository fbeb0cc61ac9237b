package compare

import (
	"context"
	"sync"
	"testing"
	"time"
)

type key int

const (
	wanted key = iota
	other
)

func BenchmarkCommonParentCancel(b *testing.B) {
	root := context.WithValue(context.Background(), wanted, 1)
	parent, cancelParent := context.WithCancel(root)
	defer cancelParent()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ctx, cancel := context.WithCancel(parent)
			ctx.Value(wanted)
			cancel()
		}
	})
}

func BenchmarkWithCancel(b *testing.B) {
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for i := 0; i < b.N; i++ {
		_, cancel := context.WithCancel(parent)
		cancel()
	}
}

func makeAndCancelTimeouts(b *testing.B, alive int) {
	others := make([]context.CancelFunc, alive)
	for i := range others {
		_, others[i] = context.WithTimeout(context.Background(), time.Hour)
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var cancels [10]context.CancelFunc
		for pb.Next() {
			for i := range cancels {
				_, cancels[i] = context.WithTimeout(context.Background(), time.Hour)
			}
			for _, cancel := range cancels {
				cancel()
			}
		}
	})
	b.StopTimer()
	for _, cancel := range others {
		cancel()
	}
}

func BenchmarkWithTimeout40(b *testing.B)     { makeAndCancelTimeouts(b, 40) }
func BenchmarkWithTimeout4000(b *testing.B)   { makeAndCancelTimeouts(b, 4000) }
func BenchmarkWithTimeout400000(b *testing.B) { makeAndCancelTimeouts(b, 400000) }

func cancelChain(b *testing.B, depth int) {
	for i := 0; i < b.N; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		for k := 0; k < depth; k++ {
			ctx, _ = context.WithCancel(ctx)
		}
		cancel()
	}
}

func BenchmarkCancelTree1(b *testing.B)    { cancelChain(b, 1) }
func BenchmarkCancelTree10(b *testing.B)   { cancelChain(b, 10) }
func BenchmarkCancelTree100(b *testing.B)  { cancelChain(b, 100) }
func BenchmarkCancelTree1000(b *testing.B) { cancelChain(b, 1000) }

func BenchmarkCancelChildren1000(b *testing.B) {
	for i := 0; i < b.N; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		for k := 0; k < 1000; k++ {
			context.WithCancel(ctx)
		}
		cancel()
	}
}

func BenchmarkCheckCanceledErr(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for i := 0; i < b.N; i++ {
		_ = ctx.Err()
	}
}

func BenchmarkCheckCanceledDone(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for i := 0; i < b.N; i++ {
		select {
		case <-ctx.Done():
		default:
		}
	}
}

func BenchmarkErr(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = ctx.Err()
		}
	})
}

func BenchmarkContextCancelDone(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			select {
			case <-ctx.Done():
			default:
			}
		}
	})
}

func deep(depth int) context.Context {
	ctx := context.Background()
	for i := 0; i < depth; i++ {
		ctx = context.WithValue(ctx, other, i)
	}
	return ctx
}

func lookUp(b *testing.B, depth int) {
	ctx := deep(depth)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ctx.Value(wanted)
		}
	})
}

func BenchmarkDeepValueSameGoRoutine10(b *testing.B)  { lookUp(b, 10) }
func BenchmarkDeepValueSameGoRoutine30(b *testing.B)  { lookUp(b, 30) }
func BenchmarkDeepValueSameGoRoutine100(b *testing.B) { lookUp(b, 100) }

func BenchmarkDeepValueNewGoRoutine30(b *testing.B) {
	ctx := deep(30)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var lookup sync.WaitGroup
			lookup.Add(1)
			go func() {
				ctx.Value(wanted)
				lookup.Done()
			}()
			lookup.Wait()
		}
	})
}
