// What the twins have in common; see bench/measure.h.

package compare

import "sync/atomic"

const batch = 1000

// n operations that several goroutines share: they take them in batches.
type shared struct{ left int64 }

type part struct {
	of   *shared
	mine int64
}

func newShare(n int) *shared { return &shared{left: int64(n)} }

func (s *shared) part() *part { return &part{of: s} }

// next reports whether there is one more operation to do.
func (p *part) next() bool {
	if p.mine == 0 {
		p.mine = batch
		if left := atomic.AddInt64(&p.of.left, -batch); left < 0 {
			p.mine = batch + left
		}
		if p.mine <= 0 {
			p.mine = 0
			return false
		}
	}
	p.mine--
	return true
}

var sink int64

// Some work outside the library.
func compute(amount int) {
	x := 0
	for i := 0; i < amount; i++ {
		x = x*2 + i
	}
	if x == -1 { // Never, which the compiler cannot know.
		atomic.AddInt64(&sink, 1)
	}
}
