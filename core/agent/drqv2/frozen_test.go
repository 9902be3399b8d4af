package drqv2

import (
	"bytes"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// telling is a replay of one copy, and what adds some frames of noise to it, in episodes of 25 of
// them.
func telling(c Config, capacity int) (f *experience.Log, tell func(frames int)) {
	size := c.Pixels.Side * c.Pixels.Side * agent.Colours
	f = experience.NewLog(experience.Shape{Bytes: size, Act: c.Act, Copies: 1}, experience.Keep{Looks: capacity})
	stream, told := rng.New(9, "telling"), 0
	return f, func(frames int) {
		for range frames {
			frame, q := make([]byte, size), stream.At(uint64(told))
			for i := range frame {
				frame[i] = byte(q.IntN(256))
			}
			if told%25 == 0 {
				f.Begin(0, experience.Look{Frame: frame})
			} else {
				f.Add(0, experience.Step{Action: []float32{float32(q.Float64()), -0.5}, Reward: float32(told % 7), Next: experience.Look{Frame: frame}, End: endIf(told%25 == 24)})
			}
			told++
		}
	}
}

// refitted is what a refit at an env step makes of D_real, and how many rows it encodes.
func refitted(t *testing.T, l *Latent, f *experience.Log, real *replay.Ring, step int) (encoded int) {
	t.Helper()
	w := &agent.Work{Step: step, Refit: true, Source: agent.BatchSource{Frames: experience.Frames{Log: f}, Real: real}}
	encoded, err := l.Phases()[1].Start(w)
	if err != nil {
		t.Fatal(err)
	}
	encodes(t, l, w, 0, encoded)
	return encoded
}

// Once encoder and trunks are frozen a refit encodes only rows that are new, and D_real is, to the bit,
// what it would be if all were encoded: by every kernel, because a row lies elsewhere in its batch
// then.
func TestAFrozenEncoderEncodesNewRowsOnly(t *testing.T) {
	for _, family := range kernel.Available() {
		dev, err := cpu.New(cpu.Options{Threads: 2, Family: family})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		c := small()
		c.FreezeAt, c.Pixels.Channels, c.Pixels.Feature = 10, 32, 50
		f, tell := telling(c, 1000)
		l, real := newLatent(t, c, dev), replay.NewRing(c.latents(), 1000)
		for i, r := range []struct {
			step, tell int
			all        bool
		}{{9, 40, true}, {11, 10, true}, {12, 7, false}, {13, 60, false}, {14, 0, false}} {
			tell(r.tell)
			before := real.Len()
			encoded := refitted(t, l, f, real, r.step)
			want := real.Len()
			if !r.all {
				want -= before
			}
			if encoded != want || r.tell > 3 && want == 0 {
				t.Errorf("refit %d at env step %d encodes %d rows, want %d of %d", i, r.step, encoded, want, real.Len())
			}
			fresh := replay.NewRing(c.latents(), 1000)
			refitted(t, newLatent(t, c, dev), f, fresh, r.step) // the same weights: nothing is learned here
			sameRows(t, string(family), real, fresh)
		}
	}
}

// All rows are made again where some were forgotten, and where the rows of several copies lie between
// each other. A checkpoint says when D_real was made.
func TestRowsThatAFrozenEncoderMakesAnew(t *testing.T) {
	c, dev := small(), newDevice(t, 1)
	c.FreezeAt = 10
	f, tell := telling(c, 60)
	l, real := newLatent(t, c, dev), replay.NewRing(c.latents(), 1000)
	tell(55)
	refitted(t, l, f, real, 11)
	tell(30)
	if n := refitted(t, l, f, real, 12); n != real.Len() {
		t.Errorf("of %d rows, some of them new in the place of old ones, %d are encoded", real.Len(), n)
	}
	few, many := reel(c, 2, 12), reel(c, 3, 12)
	refitted(t, l, few, real, 13)
	if n := refitted(t, l, many, real, 14); n != real.Len() {
		t.Errorf("of %d rows of two copies %d are encoded", real.Len(), n)
	}
	var file bytes.Buffer
	if err := l.Save(&file); err != nil {
		t.Fatal(err)
	}
	x := newLatent(t, c, dev)
	if err := x.Load(&file); err != nil {
		t.Fatal(err)
	}
	if n := refitted(t, x, many, real, 15); n != 0 {
		t.Errorf("after a checkpoint %d rows are encoded, want none", n)
	}
}
