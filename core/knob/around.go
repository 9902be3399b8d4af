package knob

import (
	"cmp"
	"math"
	"slices"
)

// stride is how many neighbours on a linear scale lie between two values of Around.
const stride = 4

// Around returns n values of a number, ascending, or as many as there are: now, wanted, and values at
// strides around now, which do not depend on what is wanted except that it takes the place of the
// nearest one. It returns nothing for choices.
func (k Knob) Around(now, wanted Value, n int) []Value {
	if k.Kind == KindChoice || n < 1 {
		return nil
	}
	all := []float64{now.Number}
	add := func(by int) bool {
		v := k.Next(now, by).Number
		if len(all) == n || slices.Contains(all, v) {
			return false
		}
		all = append(all, v)
		return true
	}
	by := stride
	if k.Scale == ScaleLog {
		by = 1
	}
	for i := 1; ; i++ {
		if up, down := add(i*by), add(-i*by); !up && !down {
			break
		}
	}
	if w := wanted.Number; !slices.Contains(all, w) {
		at := -1
		for i, v := range all {
			if i > 0 && (at < 0 || math.Abs(v-w) < math.Abs(all[at]-w)) {
				at = i
			}
		}
		if at < 0 || len(all) < n {
			all = append(all, w)
		} else {
			all[at] = w
		}
	}
	slices.SortFunc(all, cmp.Compare[float64])
	out := make([]Value, len(all))
	for i, v := range all {
		out[i] = Number(v)
	}
	return out
}
