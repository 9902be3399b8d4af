package kernel

import (
	"fmt"

	"pgrlab/core/device"
)

// routine emits the work of a Routine between gradient steps.
func (f *finish) routine(a device.Routine) error {
	if p := f.program; len(p.Instrs) > 0 || p.Adam != nil || len(p.Lerps) > 0 || len(p.Finite) > 0 {
		return fmt.Errorf("a %T beside instructions", a)
	}
	switch a := a.(type) {
	case device.SampleBatch:
		return f.sampleBatch(a)
	case device.StackFrames:
		return f.stackFrames(a)
	case device.Choose:
		_, _, n := f.shape(a.Out)
		if n > a.Of {
			return fmt.Errorf("%d different numbers of %d", n, a.Of)
		}
		f.launch("choose", [3]uint32{1, 1, 1}, 32, 0,
			Gate{}, at(a.Out, 0), Occasion{}, a.Stream.Key[0], a.Stream.Key[1], uint32(a.Of), uint32(n))
		return nil
	case device.Temperature:
		f.launch("temperature", [3]uint32{1, 1, 1}, 256, 0,
			Gate{}, at(a.LogP, 0), at(a.State, 0), at(a.Alpha, 0), at(a.Result, 0), Words{},
			uint32(f.size(a.LogP)), a.Target, a.Beta1, a.Beta2, a.Eps)
		return nil
	}
	return fmt.Errorf("there is no kernel for %T", a)
}

const (
	sampleTile    = 32 // rows of a batch that a block samples
	sampleThreads = 128
)

func (f *finish) sampleBatch(d device.SampleBatch) error {
	rows := -1
	var t Table
	for _, c := range d.Columns {
		_, n, cols := f.shape(c.To)
		if rows >= 0 && n != rows || c.First < 0 || c.First+cols > d.Width {
			return fmt.Errorf("columns %d to %d of %d rows", c.First, c.First+cols, n)
		}
		rows = n
		t = append(t, at(c.To, 0), uint64(c.First), uint64(cols))
	}
	from := [2]any{uint64(0), uint64(0)}
	for i, store := range d.From {
		if store != nil {
			from[i] = Stored{store}
		}
	}
	blocks := (rows + sampleTile - 1) / sampleTile
	f.launch("sample_batch", [3]uint32{uint32(max(0, blocks)), 1, 1}, sampleThreads, 0,
		Gate{}, Occasion{}, Words{}, from[0], from[1],
		d.Streams[0].Key[0], d.Streams[0].Key[1], d.Streams[1].Key[0], d.Streams[1].Key[1],
		uint32(d.Width), t, uint32(len(d.Columns)), uint32(rows))
	return nil
}

// stackFrames has a thread for each word of an image.
func (f *finish) stackFrames(s device.StackFrames) error {
	_, rows, columns := f.shape(s.Picks)
	if columns != (s.Stack+2)*len(s.To) {
		return fmt.Errorf("%d picks for %d stacks of %d frames", columns, len(s.To), s.Stack)
	}
	frame := s.Height * s.Width * s.Channels
	for i, to := range s.To {
		_, n, words := f.shape(to)
		if n != rows || words != ceil(s.Stack*frame, 4) {
			return fmt.Errorf("%d images of %d words, of %d stacks of %d frames of %d bytes", n, words, rows, s.Stack, frame)
		}
		err := f.counted("stack_frames", n*words, []any{Gate{}, at(to, 0), at(s.Picks, i*(s.Stack+2)), Stored{s.From}},
			uint32(s.Height), uint32(s.Width), uint32(s.Channels), uint32(s.Pad), uint32(s.Stack), uint32(columns), uint32(words), uint32(ceil(frame, 4)))
		if err != nil {
			return err
		}
	}
	return nil
}
