package cuda

import (
	"errors"
	"math"
	"slices"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// place returns an instruction's place in the program that was compiled.
func (x *executable) place(i int) int {
	if x.order[i] < 0 {
		return -1 // Squares
	}
	return x.merged.From[x.order[i]]
}

// diagnose runs the instructions once more, one by one, and reports the first one of the program that was compiled, not in the order
// of execution, that makes a number that is not finite. The instructions change no state, so they compute the same numbers again.
func (x *executable) diagnose(occasion uint64) error {
	x.stage(occasion)
	d := x.device
	if err := x.upload(d); err != nil {
		return d.failed(err)
	}
	made := map[device.Ref]bool{}
	for _, in := range x.program.Instrs {
		made[in.Out] = true
	}
	for r := range x.program.Buffers {
		if ref := device.Ref(r); !made[ref] && x.layout.places[r].kind != working && !x.program.HoldsBytes(ref) {
			if where, err := x.infinite(-1, ref); err != nil {
				return err
			} else if where != nil {
				return where
			}
		}
	}
	var first *device.NotFinite
	for i, in := range x.program.Instrs {
		if in.Code == kernel.Squares {
			continue
		}
		err := x.alone(in)
		if full := (*device.OutOfMemory)(nil); errors.As(err, &full) {
			break // a number is not finite, and there is no room to find out where
		}
		if err != nil {
			return err
		}
		where, err := x.fault(i)
		if err != nil {
			return err
		}
		if where != nil && (first == nil || where.Instr < first.Instr) {
			first = where
		}
	}
	if first != nil {
		return first
	}
	return &device.NotFinite{Instr: device.Nowhere, Buffer: device.None, Norm: x.norm}
}

// fault finds a number that is not finite in what instruction i has made, and where it comes from in the
// program that was compiled: in a sum of several uses of a weight, the term.
func (x *executable) fault(i int) (*device.NotFinite, error) {
	where, err := x.infinite(x.place(i), x.program.Instrs[i].Out)
	if where == nil || err != nil {
		return nil, err
	}
	x.merged.Locate(where)
	for j, term := range x.merged.Terms(where.Instr) {
		out := term.Out
		term.Out = x.program.Instrs[i].Out // which has room for one term
		if err := x.alone(term); err != nil {
			return nil, err
		}
		if in, err := x.infinite(j, term.Out); in != nil || err != nil {
			if in != nil {
				in.Buffer = out
			}
			return in, err
		}
	}
	return where, nil
}

// alone runs one instruction, with its own scratch memory.
func (x *executable) alone(in device.Instr) (err error) {
	d := x.device
	one := *x.program
	one.Instrs = []device.Instr{in}
	recipe, err := kernel.Lower(&one, 0, x.target)
	if err != nil {
		return err
	}
	var scratch, keeps []int
	end := 0
	take := func(elements int) (at int) {
		at, end = end, end+scratchBytes(elements)
		return at
	}
	for _, elements := range recipe.Scratch {
		scratch = append(scratch, take(elements))
	}
	for _, k := range recipe.Kept {
		keeps = append(keeps, take(k.Elements))
	}
	m := memories{frame: x.frame(), scratch: scratch}
	if end > 0 {
		if m.workspace, err = d.alloc(&d.used.Programs, end); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.free(&d.used.Programs, m.workspace, end)) }()
	}
	for i, k := range recipe.Kept {
		m.kept = append(m.kept, m.workspace+driver.Ptr(keeps[i]))
		recipe.Launches = append(slices.Clone(k.Launches), recipe.Launches...)
	}
	launches, err := x.launches(recipe.Launches, m)
	if err == nil {
		err = d.launch(launches)
	}
	if err != nil {
		return d.failed(err)
	}
	return d.failed(d.ctx.Synchronize())
}

// infinite finds the first element of a buffer that is not finite.
func (x *executable) infinite(instr int, r device.Ref) (*device.NotFinite, error) {
	d := x.device
	numbers := make([]float32, x.program.Buffers[r].Len())
	if len(numbers) == 0 {
		return nil, nil
	}
	if err := d.ctx.Download(device.Bytes(numbers), x.address(r, x.frame())); err != nil {
		return nil, d.failed(err)
	}
	if err := d.ctx.Synchronize(); err != nil {
		return nil, d.failed(err)
	}
	for i, v := range numbers {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return &device.NotFinite{Instr: instr, Buffer: r, Index: i, Value: v, Norm: x.norm}, nil
		}
	}
	return nil, nil
}

// Profile implements device.Profiler. It waits for every part, so each time includes the launch and
// the wait, about 10 µs; graphs have neither.
func (x *executable) Profile(occasion uint64, runs int) ([]device.Timing, error) {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	if err := x.ready(); err != nil {
		return nil, err
	}
	timings := []device.Timing{{Instr: -1, Name: "upload"}}
	for _, s := range x.steps[:len(x.steps)-1] {
		name := x.program.Instrs[s.first].Code.String()
		for _, in := range x.program.Instrs[s.first+1 : s.last+1] {
			name += " + " + in.Code.String()
		}
		timings = append(timings, device.Timing{Instr: x.place(s.first), Name: name})
	}
	timings = append(timings, device.Timing{Instr: -1, Name: "check, optimiser, averages"}, device.Timing{Instr: -1, Name: "download"})
	for run := range runs {
		if err := x.profiled(occasion+uint64(run), timings, run == 0); err != nil {
			return nil, err
		}
	}
	return timings, nil
}

// profiled runs the program once, part by part.
func (x *executable) profiled(occasion uint64, timings []device.Timing, first bool) error {
	d := x.device
	measure := func(i int, part func() error) error {
		start := time.Now()
		if err := part(); err != nil {
			return d.failed(err)
		}
		if err := d.ctx.Synchronize(); err != nil {
			return d.failed(err)
		}
		if took := time.Since(start); first || took < timings[i].Took {
			timings[i].Took = took
		}
		return nil
	}
	x.stage(occasion)
	if err := d.refresh(x.stale); err != nil {
		return err
	}
	if err := measure(0, func() error { return x.upload(d) }); err != nil {
		return err
	}
	for i, p := range x.parts {
		if err := measure(1+i, func() error { return d.launch(p.launches) }); err != nil {
			return err
		}
	}
	last := len(timings) - 1
	if err := measure(last, func() error { return x.download(d) }); err != nil {
		return err
	}
	return x.finish(occasion)
}

// Outline implements device.Outliner.
func (x *executable) Outline() device.Outline {
	x.device.mu.Lock()
	defer x.device.mu.Unlock()
	n := len(x.merged.Into)
	o := device.Outline{Segments: 1, Segment: make([]int, n), Lanes: make([]string, n), Into: x.merged.Into, Owner: x.layout.owner, Own: x.layout.block + x.layout.work}
	for _, s := range x.steps[:len(x.steps)-1] {
		kernels := "nothing"
		for i, l := range s.recipe.Launches {
			if i == 0 {
				kernels = l.Kernel
			} else {
				kernels += ", " + l.Kernel
			}
		}
		for i := s.first; i <= s.last; i++ {
			if at := x.place(i); at >= 0 {
				o.Lanes[at] = kernels
			}
		}
	}
	return o
}
