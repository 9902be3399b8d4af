package cuda

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// Images that the device makes of stored frames are the host's, to the byte: with every shift, and
// where lines, frames and images are not whole words.
func TestStackFrames(t *testing.T) {
	dev, numbers := card(t, Options{}), rng.New(3, "frames")
	const frames, stack = 9, 3
	for n, f := range []window.Frames{
		{Height: 8, Width: 8, Channels: 3, Pad: 2}, {Height: 5, Width: 7, Channels: 1, Pad: 4},
		{Height: 3, Width: 5, Channels: 3, Pad: 0}, {Height: 2, Width: 3, Channels: 5, Pad: 9},
	} {
		words := op.Words(f.Size())
		store, err := dev.Store(frames, words)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]float32, frames*words)
		all := device.Bytes(rows)
		u := make([]float32, len(all))
		numbers.FillUniform(u, uint64(n), 0)
		for i, x := range u {
			all[i] = byte(256 * x)
		}
		if err := store.Put(0, rows); err != nil {
			t.Fatal(err)
		}
		images := f.Shifts() + 1
		wide := op.Words(stack * f.Size())
		to := []*op.Tensor{op.NewTensor("s", images, wide), op.NewTensor("s'", images, wide)}
		picks := op.NewTensor("picks", images, 2*(stack+2))
		want := [2][]float32{make([]float32, images*wide), make([]float32, images*wide)}
		for i := range images {
			for which := range 2 {
				row, pictures := picks.Data[(2*i+which)*(stack+2):][:stack+2], make([][]byte, stack)
				for k := range stack {
					place := (i*5 + which*2 + k*k) % frames
					row[k], pictures[k] = float32(place), all[4*place*words:][:f.Size()]
				}
				down, across := (i+which)%f.Shifts(), (2*i+which)%f.Shifts()
				row[stack], row[stack+1] = float32(down), float32(across)
				f.StackBytes(device.Bytes(want[which][i*wide:][:wide]), pictures, down, across)
			}
		}
		p, err := plan.CompileRoutine("stack", plan.StackFrames{
			From: store, Height: f.Height, Width: f.Width, Channels: f.Channels, Pad: f.Pad, Stack: stack, Picks: picks, To: to,
		}, dev)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		if err := plan.Fetch(dev, to...); err != nil {
			t.Fatal(err)
		}
		for which, x := range to {
			if !slices.Equal(device.Bytes(x.Data), device.Bytes(want[which])) {
				t.Errorf("%+v, images %d: %v, want %v", f, which, device.Bytes(x.Data), device.Bytes(want[which]))
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	short := plan.StackFrames{Height: 2, Width: 2, Channels: 1, Stack: 1, Picks: op.NewTensor("picks", 2, 3), To: []*op.Tensor{op.NewTensor("s", 3, 1)}}
	if _, err := plan.CompileRoutine("stack", short, dev); err == nil {
		t.Error("picks for two images, and three images")
	}
}

// recorded is a replay of noise from two copies, whose episodes have 100 frames, and a function that
// adds frames to it, which differ with first.
func recorded(c drqv2.Config, capacity, first int) (*experience.Log, func(frames int)) {
	f := experience.NewLog(experience.Shape{Bytes: c.Pixels.Side * c.Pixels.Side * agent.Colours, Act: c.Act, Copies: 2}, experience.Keep{Looks: capacity})
	pictures, added := snow(37, c.Pixels.Side), [2]int{}
	return f, func(frames int) {
		for i := range frames {
			which := i % 2
			at := added[which]
			if picture := pictures[(first+at*7+which)%len(pictures)]; at%100 == 0 {
				f.Begin(which, experience.Look{Frame: picture})
			} else {
				f.Add(which, experience.Step{Action: []float32{float32(at%5)/5 - 0.4, float32(at%3) / 3}, Reward: float32(at%7) / 7, Next: experience.Look{Frame: picture}, End: endIf(at%100 == 99)})
			}
			added[which]++
		}
	}
}

// compared is a DrQ-v2 on a device, beside one on the CPU that makes the same updates.
type compared struct {
	t           *testing.T
	here, there *drqv2.Agent
	got, want   said
	made        int
}

func newCompared(t *testing.T, dev device.Device) *compared {
	return &compared{t: t, here: newDrQ(t, sighted(), dev), there: newDrQ(t, sighted(), onCPU(t))}
}

// update makes an update of both on rows of a replay.
func (c *compared) update(what string, frames *experience.Log) {
	c.t.Helper()
	c.made++
	w := &agent.Work{
		Step: c.made * sighted().UpdateEvery, Enough: true, Rates: drqv2.DefaultRates,
		Source: agent.BatchSource{Frames: experience.Frames{Log: frames, Stream: rng.New(4, "rows")}, Mix: replay.Mix{Real: 10}},
	}
	worked(c.t, &c.got, what, c.here.Phases()[0], w)
	worked(c.t, &c.want, what, c.there.Phases()[0], w)
}

// The device makes images of its own copy of the replay: while that grows beyond what there was room
// for, has forgotten its oldest frames, was lost by parking, is another one, and was read from a file.
func TestDrQOfStoredFrames(t *testing.T) {
	dev := unchecked(t, Options{})
	c := newCompared(t, dev)
	frames, add := recorded(sighted(), 1500, 0)
	add(60)
	c.update("few frames", frames)
	first := dev.Memory().Frames
	if first == 0 {
		t.Fatal("the device holds no frames")
	}
	add(2)
	c.update("one more of each copy", frames)
	add(1200)
	c.update("more than there was room for", frames)
	if now := dev.Memory().Frames; now <= first {
		t.Errorf("%d bytes for 1,262 frames, %d for 62", now, first)
	}
	add(700)
	c.update("the oldest are forgotten", frames)
	if err := dev.Park(); err != nil {
		t.Fatal(err)
	}
	c.update("parked", frames)
	other, more := recorded(sighted(), 1500, 3)
	more(90)
	c.update("another replay", other)
	var file bytes.Buffer
	if err := frames.Save(&file); err != nil {
		t.Fatal(err)
	}
	more(1962 - 90) // as many as were saved
	c.update("as many frames", other)
	if err := other.Load(&file); err != nil {
		t.Fatal(err)
	}
	c.update("loaded", other)
	agree(t, c.got, c.want, 1e-5)
}

// Where the device has no memory for more frames, the host makes the images from then on.
func TestDrQWithoutRoomForFrames(t *testing.T) {
	dev := unchecked(t, Options{})
	c := newCompared(t, dev)
	frames, add := recorded(sighted(), 3000, 0)
	add(60)
	c.update("few frames", frames)
	if text := c.here.Remark(); text != "" {
		t.Errorf("there is room, and it says %q", text)
	}
	dev.options.Memory = dev.Memory().Total() + 1<<18 // more than a program takes, and less than the frames
	add(2000)
	c.update("too many frames", frames)
	if first, again := c.here.Remark(), c.here.Remark(); !strings.Contains(first, "updates take longer") || again != "" {
		t.Errorf("without room it says %q, and then %q", first, again)
	}
	if held := dev.Memory().Frames; held != 0 {
		t.Errorf("%d bytes of frames are held", held)
	}
	add(2)
	c.update("a step later", frames)
	agree(t, c.got, c.want, 1e-5)
}

// At the next refit the device takes the frames again if it has memory by then, and says so. If it
// has none, it says nothing again.
func TestFramesAreTakenAgainAtARefit(t *testing.T) {
	dev := unchecked(t, Options{})
	x, err := drqv2.NewLatent(sighted(), dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	c := &compared{t: t, here: x.Agent, there: newDrQ(t, sighted(), onCPU(t))}
	frames, add := recorded(sighted(), 3000, 0)
	add(60)
	c.update("few frames", frames)
	refit := func() {
		ring := replay.NewRing(replay.Shape{Obs: 2 * sighted().Pixels.Feature, Act: sighted().Act}, 3000)
		w := &agent.Work{Refit: true, Source: agent.BatchSource{Frames: experience.Frames{Log: frames}, Real: ring}}
		if _, err := x.Phases()[1].Start(w); err != nil {
			t.Fatal(err)
		}
	}
	limit := dev.Memory().Total() + 1<<18
	dev.options.Memory = limit
	add(2000)
	c.update("too many frames", frames)
	if x.Remark() == "" {
		t.Error("it says nothing")
	}
	refit()
	c.update("still no room", frames)
	if text := x.Remark(); text != "" || dev.Memory().Frames != 0 {
		t.Errorf("it says %q with %d bytes of frames", text, dev.Memory().Frames)
	}
	dev.options.Memory = 0
	c.update("room, but no refit", frames)
	if held := dev.Memory().Frames; held != 0 {
		t.Errorf("%d bytes are taken between refits", held)
	}
	refit()
	if text := x.Remark(); text != "" {
		t.Errorf("before the frames are taken it says %q", text)
	}
	c.update("room", frames)
	if text, again := x.Remark(), x.Remark(); !strings.Contains(text, "again") || again != "" || dev.Memory().Frames == 0 {
		t.Errorf("it says %q and %q with %d bytes of frames", text, again, dev.Memory().Frames)
	}
	agree(t, c.got, c.want, 1e-5)
}

// The same holds if it has memory for the frames, but not for the program that makes the images.
func TestDrQWithoutRoomToStackFrames(t *testing.T) {
	dev := unchecked(t, Options{})
	c := newCompared(t, dev)
	if err := c.here.Prepare(agent.Uses{Mixes: []replay.Mix{{Real: 10}}}); err != nil {
		t.Fatal(err)
	}
	dev.options.Memory = dev.Memory().Total() + 1024*16*16*agent.Colours // the smallest store
	frames, add := recorded(sighted(), 3000, 0)
	add(60)
	c.update("few frames", frames)
	if held := dev.Memory().Frames; held != 0 {
		t.Errorf("%d bytes of frames are held", held)
	}
	agree(t, c.got, c.want, 1e-5)
}

// Frames give their memory up for anything else, and take it again if it is free when they are needed.
func TestFramesYield(t *testing.T) {
	dev := unchecked(t, Options{})
	c := newCompared(t, dev)
	frames, add := recorded(sighted(), 1500, 0)
	add(60)
	c.update("alone", frames)
	held := dev.Memory().Frames
	dev.options.Memory = dev.Memory().Total()
	other := newLine(t, dev)
	other.run(t, 1)
	if dev.Memory().Frames != 0 {
		t.Fatalf("another program was compiled without the memory of frames: %v", dev.Memory())
	}
	if err := other.program.Close(); err != nil {
		t.Fatal(err)
	}
	add(2)
	c.update("the other program is closed", frames)
	if dev.Memory().Frames != held {
		t.Errorf("%d bytes of frames are held, want %d", dev.Memory().Frames, held)
	}
	agree(t, c.got, c.want, 1e-5)
}

func newDrQ(t *testing.T, c drqv2.Config, dev device.Device) *drqv2.Agent {
	t.Helper()
	x, err := drqv2.New(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// endIf is a true end, or none.
func endIf(ended bool) experience.End {
	if ended {
		return experience.Terminated
	}
	return experience.Continues
}
