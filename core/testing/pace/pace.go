// Package pace makes the work in tests quick or slow relative to the code that watches it. This
// exposes tests that rely on work still going on, or on its being over. Only tests and their
// helpers use it: the parts that replace real ones call Unit, and waits call Look.
//
// Nothing happens unless Variable is set, as make hostile does.
package pace

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Variable is the environment variable with the pace of this process and of those that it
// starts: Slow, Quick, or nothing.
const Variable = "PGRLAB_TEST_PACE"

// The values of Variable.
const (
	Slow  = "slow"  // units of work take a pseudo-random number of scheduler rounds
	Quick = "quick" // work runs at its own speed, and code that watches it looks late
)

var asked = sync.OnceValue(func() string {
	p := os.Getenv(Variable)
	if p != "" && p != Slow && p != Quick {
		panic(fmt.Sprintf("$%s is %q: want %s or %s", Variable, p, Slow, Quick))
	}
	return p
})

// drawn counts the draws of this process.
var drawn atomic.Uint64

// draw returns 64 bits that differ from draw to draw and from process to process
// (Steele, Lea and Flood 2014: SplitMix64).
func draw() uint64 {
	z := drawn.Add(1)*0x9e3779b97f4a7c15 + uint64(os.Getpid())
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Rounds is how many scheduler rounds a unit takes: mostly none, sometimes a few, seldom
// thousands.
func Rounds() int {
	if asked() != Slow {
		return 0
	}
	d := draw()
	switch {
	case d%2 == 0:
		return 0
	case d%64 == 1:
		return int(d >> 32 % 8192)
	}
	return int(d >> 32 % 64)
}

// Unit is called at the beginning of a unit of work.
func Unit() {
	for range Rounds() {
		runtime.Gosched()
	}
}

// Look is called before a test checks the progress of work.
func Look() {
	if asked() != Quick {
		return
	}
	switch d := draw(); {
	case d%32 == 1:
		time.Sleep(time.Duration(d>>32%400) * time.Millisecond)
	case d%4 == 1:
		time.Sleep(time.Duration(d>>32%20) * time.Millisecond)
	}
}
