package cpu

// share is what a worker takes of a segment at once: a part of a lane. Lanes belong to the
// numbers, parts do not: a device with more workers than lanes has more of them, and where
// one worker does a whole lane there is one.
type share struct{ lane, part, parts int }

// lanes are the shares that are whole lanes.
func lanes() (of [Lanes]share) {
	for lane := range of {
		of[lane] = share{lane, 0, 1}
	}
	return of
}

// place is the number of a share among all of its segment's: that of scratch memory.
func (s share) place() int { return s.part*Lanes + s.lane }

// first says whether it is the share that does what is not cut into parts.
func (s share) first() bool { return s.part == 0 }

// Grains are what parts of a lane are cut at; a part is not smaller.
const (
	// rowGrain rows: the family "amx" has the same sums in products of so many and more.
	rowGrain = 16
	// columnGrain columns are a strip of a product.
	columnGrain = 32
	// elementGrain elements are pages of their own.
	elementGrain = 1 << 12
)

// all is the grain of what every part of a lane goes through altogether.
const all = -1

// cut is the part of a lane's range that a share has; 0 is no grain: all of it is the first
// part's.
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

// rows are those of n that the share has, of every member.
func (s share) rows(n int) (lo, hi int) {
	lo, hi = rowRange(n, s.lane)
	return s.cut(lo, hi, rowGrain)
}

// elements are those of n that the share has.
func (s share) elements(n int) (lo, hi int) {
	lo, hi = elementRange(n, s.lane)
	return s.cut(lo, hi, elementGrain)
}

// columns are those of n that the share has.
func (s share) columns(n int) (lo, hi int) {
	lo, hi = columnRange(n, s.lane)
	return s.cut(lo, hi, columnGrain)
}

// units are those of n that the share has, where each is much work: members, or images.
func (s share) units(n int) (lo, hi int) {
	lo, hi = rowRange(n, s.lane)
	return s.cut(lo, hi, 1)
}
