package experience

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// kept is a look and what is known of it.
type kept struct {
	look    Look
	action  []float32
	shot    shot
	arrival arrival
}

// pin keeps a look for count readers.
type pin struct {
	count int
	kept  *kept // of a look that the reel has forgotten; nil: the reel has it
}

// Pin keeps a look, with what led to it and what followed it, until Unpin is called as often.
func (l *Log) Pin(r Ref) {
	p := l.pins[r]
	p.count++
	l.pins[r] = p
}

// Unpin lets a look be forgotten.
func (l *Log) Unpin(r Ref) {
	p, is := l.pins[r]
	if p.count--; p.count > 0 {
		l.pins[r] = p
	} else if is {
		delete(l.pins, r)
	}
}

// PinStep and UnpinStep are Pin and Unpin of both looks of the env step that led to a look.
func (l *Log) PinStep(after Ref)   { l.Pin(after.Before()); l.Pin(after) }
func (l *Log) UnpinStep(after Ref) { l.Unpin(after.Before()); l.Unpin(after) }

// rescue copies the oldest look of a reel, which is about to be forgotten, if it is pinned.
func (l *Log) rescue(r *reel) {
	if len(l.pins) == 0 {
		return
	}
	at := Ref{int32(r.number), r.first}
	if p, is := l.pins[at]; is {
		k := r.kept(l, r.first)
		k.look, k.action = Look{slices.Clone(k.look.Numbers), slices.Clone(k.look.Frame)}, slices.Clone(k.action)
		p.kept = &k
		l.pins[at] = p
	}
}

// kept returns a look that the reel has.
func (r *reel) kept(l *Log, look uint64) (k kept) {
	slot := r.slot(look)
	k = kept{look: r.look(l, slot), action: r.action(l, slot), shot: r.shots[slot]}
	if l.keep.Steps > 0 {
		k.arrival = r.arrivals[slot]
	}
	return k
}

// at returns a look that is held or pinned.
func (l *Log) at(ref Ref) (k kept, held bool) {
	if uint(ref.Copy) >= uint(len(l.reels)) {
		return k, false
	}
	if r := &l.reels[ref.Copy]; ref.Number >= r.first && ref.Number < r.total {
		return r.kept(l, ref.Number), true
	}
	if p := l.pins[ref]; p.kept != nil {
		return *p.kept, true
	}
	return k, false
}

// Pinned are the looks of a log that are only pinned: a part of a checkpoint that is loaded after
// the log itself. What has pinned them pins them again as it is loaded; Loaded ends that.
type Pinned struct{ Log *Log }

// PinnedLooks are the looks that are only pinned at a time, sorted; what happens to the log later does not
// change them.
type PinnedLooks struct {
	of    []Ref
	looks []*kept
}

// Now returns what is only pinned.
func (p Pinned) Now() (all PinnedLooks) {
	for r, pin := range p.Log.pins {
		if pin.kept != nil {
			all.of = append(all.of, r)
		}
	}
	slices.SortFunc(all.of, func(a, b Ref) int { return cmp.Or(cmp.Compare(a.Copy, b.Copy), cmp.Compare(a.Number, b.Number)) })
	for _, r := range all.of {
		all.looks = append(all.looks, p.Log.pins[r].kept)
	}
	return all
}

// Len is how many looks these are.
func (p Pinned) Len() int { return len(p.Now().of) }

// Key is equal for equal looks of a run.
func (l PinnedLooks) Key() string {
	key, _ := binary.Append(nil, binary.LittleEndian, l.of) // of a fixed size
	return string(key)
}

// pinnedHead begins a pinned look in a file; its action and its look follow.
type pinnedHead struct {
	Ref     Ref
	Shot    shot
	Arrival arrival
}

// Save writes the looks.
func (p Pinned) Save(w io.Writer) error { return p.Now().Save(w) }

// Save writes what Load of Pinned reads.
func (l PinnedLooks) Save(w io.Writer) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(l.of)))
	for i, k := range l.looks {
		b, _ = binary.Append(b, binary.LittleEndian, pinnedHead{l.of[i], k.shot, k.arrival}) // of a fixed size
		b, _ = binary.Append(b, binary.LittleEndian, k.action)
		b, _ = binary.Append(b, binary.LittleEndian, k.look.Numbers)
		b = append(b, k.look.Frame...)
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("save pinned looks: %w", err)
		}
		b = b[:0]
	}
	_, err := w.Write(b)
	return err
}

// Load reads what Save wrote for a log of the same sizes.
func (p Pinned) Load(src io.Reader) error {
	if err := p.load(src); err != nil {
		return fmt.Errorf("load pinned looks: %w", err)
	}
	return nil
}

func (p Pinned) load(src io.Reader) error {
	l, n := p.Log, uint64(0)
	if err := binary.Read(src, binary.LittleEndian, &n); err != nil {
		return err
	}
	for range n {
		var h pinnedHead
		k := &kept{action: make([]float32, l.shape.Act)}
		if l.shape.Bytes > 0 { // a look is numbers or a frame, and the other is nil
			k.look.Frame = make([]byte, l.shape.Bytes)
		} else {
			k.look.Numbers = make([]float32, l.shape.Numbers)
		}
		for _, part := range []any{&h, k.action, k.look.Numbers, k.look.Frame} {
			if err := binary.Read(src, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		r := h.Ref
		if _, twice := l.pins[r]; twice || uint(r.Copy) >= uint(len(l.reels)) || r.Number >= l.reels[r.Copy].first || h.Shot.First > r.Number {
			return fmt.Errorf("look %d of copy %d was not pinned alone", r.Number, r.Copy)
		}
		k.shot, k.arrival = h.Shot, h.Arrival
		l.pins[r] = pin{kept: k}
	}
	return nil
}

// Loaded says that everything that pins looks has been loaded. It is an error if one of the looks is
// missing.
func (l *Log) Loaded() error {
	for r, p := range l.pins {
		if _, held := l.at(r); !held {
			return errors.New("a look is pinned that was not saved")
		}
		if p.count == 0 {
			delete(l.pins, r)
		}
	}
	return nil
}
