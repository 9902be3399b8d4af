package fan

import (
	"fmt"
	"math"
)

// Words say what the forks show, each is the number of forks of either kind that there are to be.
// Numbers with a sign are written by signed.
func (r Result) Words(each int, signed func(float64) string) string {
	side := fmt.Sprintf("%d forks a side", each)
	if each == 1 {
		side = "1 fork a side"
	}
	switch {
	case r.Verdict == TooFew && r.Look < r.Looks:
		return fmt.Sprintf("no verdict is possible with %s: it takes %d", side, LeastForks)
	case r.Verdict == TooFew:
		return fmt.Sprintf("cannot say: with %s no verdict is possible, it takes %d; return %s", side, LeastForks, signed(r.Difference))
	case r.Verdict == Waiting:
		return "not looked at yet"
	case r.Verdict == NotSeen:
		text := "not seen yet: " + r.numbers(signed)
		if !math.IsNaN(r.Sees) {
			text += fmt.Sprintf("; forks like these see %s or more four times in five", signed(r.Sees))
		}
		return text
	}
	text := "seen worse"
	if r.Verdict == Better {
		text = "seen better"
	}
	if r.Decided < r.Look { // it stays, but the numbers are those of all
		text += fmt.Sprintf(" at look %d of %d; now", r.Decided, r.Look)
	}
	return text + ": " + r.numbers(signed)
}

// numbers are the difference with its interval, and how many dealings differ as much.
func (r Result) numbers(signed func(float64) string) string {
	text := "return " + signed(r.Difference)
	low, high := !math.IsInf(r.Low, 0) && !math.IsNaN(r.Low), !math.IsInf(r.High, 0) && !math.IsNaN(r.High)
	switch {
	case low && high:
		text += fmt.Sprintf(", between %s and %s", signed(r.Low), signed(r.High))
	case low:
		text += ", at least " + signed(r.Low)
	case high:
		text += ", at most " + signed(r.High)
	}
	return text + fmt.Sprintf("; %d of %d ways to deal out the change differ as much", r.AsMuch, r.Dealings)
}

// AnyFalse is the share of cases with a verdict where so many changes are looked at and none of them does
// anything: at most this, since changes that share forks without them err together.
func AnyFalse(changes int) float64 { return 1 - math.Pow(1-Error, float64(changes)) }
