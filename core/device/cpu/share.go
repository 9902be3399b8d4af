package cpu

// share is what a worker takes of a segment at once: a part of a lane. The numbers depend on lanes,
// not on parts: a device with more workers than lanes has several parts per lane, and a lane done
// by one worker has one part.
type share struct{ lane, part, parts int }

// lanes returns the shares that are whole lanes.
func lanes() (of [Lanes]share) {
	for lane := range of {
		of[lane] = share{lane, 0, 1}
	}
	return of
}

// place is the index of a share among all shares of its segment, and of its scratch memory.
func (s share) place() int { return s.part*Lanes + s.lane }

// first reports whether the share is the one that does the work that is not cut into parts.
func (s share) first() bool { return s.part == 0 }

// Grains are the units at which lanes are cut into parts; a part is never smaller.
const (
	// rowGrain is in rows: the family "amx" computes the same sums in products of this many rows or
	// more.
	rowGrain = 16
	// columnGrain is in columns: the width of a strip of a product.
	columnGrain = 32
	// elementGrain is in elements: each part has pages of its own.
	elementGrain = 1 << 12
)

// all is the grain of work that every part of a lane goes through completely.
const all = -1

// cut returns the part of a lane's range that belongs to the share. With grain 0 the first part has
// all of the range.
func (s share) cut(lo, hi, grain int) (from, to int) {
	if s.parts == 1 || grain == all {
		return lo, hi
	}
	units := 0
	if grain > 0 {
		units = (hi - lo) / grain
	}
	parts := max(1, min(s.parts, units))
	at := func(part int) int {
		if part >= parts {
			return hi
		}
		return lo + units*part/parts*grain
	}
	return at(s.part), at(s.part + 1)
}

// rows returns the share's rows out of n, for every member.
func (s share) rows(n int) (lo, hi int) {
	lo, hi = rowRange(n, s.lane)
	return s.cut(lo, hi, rowGrain)
}

// elements returns the share's elements out of n.
func (s share) elements(n int) (lo, hi int) {
	lo, hi = elementRange(n, s.lane)
	return s.cut(lo, hi, elementGrain)
}

// columns returns the share's columns out of n.
func (s share) columns(n int) (lo, hi int) {
	lo, hi = columnRange(n, s.lane)
	return s.cut(lo, hi, columnGrain)
}

// units returns the share's units out of n, where each unit is much work: members or images.
func (s share) units(n int) (lo, hi int) {
	lo, hi, _ = s.each(n, 1)
	return lo, hi
}

// each returns the share's units out of n if the parts of lanes have that grain, and whether the
// share has nothing to do. Without units, a part still clears its own rows of a sum, which its lane
// would otherwise keep from the run before.
func (s share) each(n, grain int) (lo, hi int, idle bool) {
	lo, hi = rowRange(n, s.lane)
	lo, hi = s.cut(lo, hi, grain)
	return lo, hi, lo == hi && !s.first() && grain != all
}
