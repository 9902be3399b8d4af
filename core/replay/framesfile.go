package replay

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/version"
)

// framesMagic begins saved frames; the digit is the version of the format.
const framesMagic = "PGRF2\n"

// framesHead holds the sizes of saved frames. For each copy follow its capacity, the frames ever
// added and the frames held, and then for each held frame, the oldest first, its shot, its action
// and its bytes.
type framesHead struct{ Size, Act, Copies uint64 }

type reelHead struct{ Capacity, Total, Held uint64 }

// Save writes all frames.
func (f *Frames) Save(w io.Writer) error {
	if err := f.save(w); err != nil {
		return fmt.Errorf("save frames: %w", err)
	}
	return nil
}

func (f *Frames) save(w io.Writer) error {
	b := bufio.NewWriter(w) // remembers the first error
	b.WriteString(framesMagic)
	binary.Write(b, binary.LittleEndian, framesHead{uint64(f.size), uint64(f.act), uint64(len(f.reels))})
	for i := range f.reels {
		r := &f.reels[i]
		binary.Write(b, binary.LittleEndian, reelHead{uint64(r.capacity), r.total, uint64(len(r.shots))})
		for at := r.oldest(); at < r.total; at++ {
			slot := r.slot(at)
			binary.Write(b, binary.LittleEndian, r.shots[slot])
			binary.Write(b, binary.LittleEndian, r.action(f, slot))
			b.Write(r.frame(f, slot))
		}
	}
	return b.Flush()
}

// Load replaces the frames by those that Save wrote for the same sizes. It reads no byte beyond
// them. After an error there are no frames.
func (f *Frames) Load(src io.Reader) error {
	if err := f.load(src); err != nil {
		f.clear()
		return fmt.Errorf("load frames: %w", err)
	}
	return nil
}

func (f *Frames) load(src io.Reader) error {
	f.clears++
	magic := make([]byte, len(framesMagic))
	if _, err := io.ReadFull(src, magic); err != nil {
		return err
	}
	if string(magic) != framesMagic {
		return version.ErrOther
	}
	var head framesHead
	if err := binary.Read(src, binary.LittleEndian, &head); err != nil {
		return err
	}
	if want := (framesHead{uint64(f.size), uint64(f.act), uint64(len(f.reels))}); head != want {
		return fmt.Errorf("the file has frames of %d bytes and %d actions in %d copies, want %d, %d and %d", head.Size, head.Act, head.Copies, want.Size, want.Act, want.Copies)
	}
	total := uint64(0)
	for i := range f.reels {
		if err := f.reels[i].load(f, src); err != nil {
			return fmt.Errorf("copy %d: %w", i, err)
		}
		total += f.reels[i].total
	}
	f.total = total
	return nil
}

// clear forgets all frames.
func (f *Frames) clear() {
	f.total = 0
	f.clears++
	for i := range f.reels {
		f.reels[i] = reel{number: i, capacity: f.reels[i].capacity}
	}
}

// load reads a copy's frames one by one, so that a short file takes little memory whatever it
// claims.
func (r *reel) load(f *Frames, src io.Reader) error {
	var head reelHead
	if err := binary.Read(src, binary.LittleEndian, &head); err != nil {
		return err
	}
	if head.Capacity != uint64(r.capacity) {
		return fmt.Errorf("room for %d frames is saved, there is room for %d", head.Capacity, r.capacity)
	}
	if full := head.Held == head.Capacity; head.Held > head.Capacity || head.Total < head.Held || !full && head.Total != head.Held {
		return fmt.Errorf("its counts contradict each other: %d frames of %d, %d in all", head.Held, head.Capacity, head.Total)
	}
	r.startAt(f, head.Total-head.Held)
	frame, action, about := make([]byte, f.size), make([]float32, f.act), make([]byte, binary.Size(shot{}))
	for range head.Held {
		for _, part := range []any{about, action, frame} {
			if err := binary.Read(src, binary.LittleEndian, part); err != nil {
				return fmt.Errorf("frame %d: %w", r.total, err)
			}
		}
		var s shot
		if _, err := binary.Decode(about, binary.LittleEndian, &s); err != nil {
			return fmt.Errorf("frame %d: %w", r.total, err)
		}
		if s.First > r.total {
			return fmt.Errorf("frame %d belongs to an episode that begins with frame %d", r.total, s.First)
		}
		r.add(f, frame, s)
		copy(r.action(f, r.slot(r.total-1)), action)
	}
	return nil
}

// startAt empties the reel and makes frame the number of its next frame, the first that is held. If
// there were frames before it, the reel is full. Its oldest frame is then in the middle of the
// memory, whose slots are otherwise made from the front, so all slots are made now.
func (r *reel) startAt(f *Frames, frame uint64) {
	*r = reel{number: r.number, capacity: r.capacity, total: frame}
	if frame > 0 {
		r.shots, r.actions = make([]shot, r.capacity), make([]float32, r.capacity*f.act)
	}
}
