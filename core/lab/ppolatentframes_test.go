package lab

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/task"
	"pgrlab/core/testing/racing"
	"pgrlab/envs/maze"
)

// ppoLatentOfFrames is a run of prioritized generative replay on PPO that sees frames, with the
// named F.
func ppoLatentOfFrames(function string) config.Config {
	c, seen := ppoLatentConfig(), ppoOfFrames()
	own := c.Agent.Own["ppo"].(ppo.Settings)
	sees := seen.Agent.Own["ppo"].(ppo.Settings)
	own.Kernels, own.Strides, own.Channels = sees.Kernels, sees.Strides, sees.Channels
	c.Agent.Own = agent.Own{"ppo": own}
	c.Environment.Observation, c.Pixels, c.Pixels.Side = seen.Environment.Observation, seen.Pixels, 36
	rnd, icm := ppoRNDOfFrames(3).Relevance.Of("rnd").(relevance.RNDConfig), ppoCuriosityOfFrames(3).Relevance.Of("curiosity").(relevance.ICMConfig)
	rnd.Every, icm.Every = 12, 12
	c.Relevance = c.Relevance.With("rnd", rnd).With("curiosity", icm).With("eco", ppoECOOfFrames().Relevance.Of("eco"))
	c.Knobs.Relevance, c.Generator.Conditional = function, function != relevance.None
	return c
}

// Prioritized generative replay runs on PPO from frames. D_real holds the trunk's latents of the
// window's transitions and of the kept ones with a reward. F is computed from the frames behind its
// rows, and one worker writes the same as two.
func TestGenerativeReplayOnPPOOfFrames(t *testing.T) {
	racing.Skip(t)
	for _, relevant := range []string{"none", "eco", "rnd", "curiosity"} {
		var journals []string
		for threads := range 2 {
			folder := &memoryFolder{}
			l := framesOn(t, ppoLatentOfFrames(relevant), mazeTask(t), quick(t, threads+1), folder)
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			journals = append(journals, folder.canonical(t))
			m, want := l.x.first(), replay.Shape{Obs: 6, Act: maze.ActSize}
			if m.Real.Shape() != want || m.Synthetic == nil || m.Synthetic.Shape() != want || m.Real.Len() != 2*8*3 || m.Mix != (replay.Mix{Real: 4, Synthetic: 4}) {
				t.Fatalf("%s: D_real of %v with %d rows, D_syn %v, the last mix %+v", relevant, m.Real.Shape(), m.Real.Len(), m.Synthetic, m.Mix)
			}
			found, _ := bodies[event.Latents](l)
			moved := 0
			for _, f := range found { // before refits, when the frames of most rows are forgotten, and right after them
				if math.IsNaN(float64(f.Drift)) || f.Size <= 0 {
					t.Errorf("%s: latents %+v", relevant, f)
				}
				if f.Drift > 0 {
					moved++
				}
			}
			if moved != 2 {
				t.Errorf("%s: latents moved before %d of two refits: %+v", relevant, moved, found)
			}
		}
		if journals[0] != journals[1] {
			t.Errorf("%s: one worker writes\n%s\ntwo write\n%s", relevant, journals[0], journals[1])
		}
	}
}

// filmed is a copy of what was met.
func filmed(m experience.Met) replay.FrameRow {
	row := replay.FrameRow{Action: slices.Clone(m.Action), Respawned: m.Note.Respawned}
	if m.Seen.Frame != nil {
		row.Stack, row.Next = [][]byte{bytes.Clone(m.Seen.Frame)}, [][]byte{bytes.Clone(m.Next.Frame)}
	} else {
		row.Obs, row.NextObs = slices.Clone(m.Seen.Numbers), slices.Clone(m.Next.Numbers)
	}
	return row
}

// F of D_real is computed from the frames, or the observations, that its rows were made from, by a
// model that learns as they are seen. F of respawns is 0.
func TestFOfWhatDRealIsMadeFrom(t *testing.T) {
	for name, c := range map[string]config.Config{
		"rnd of frames": ppoLatentOfFrames("rnd"), "curiosity of frames": ppoLatentOfFrames("curiosity"),
		"rnd of observations": ppoLatentOfObservations("rnd"), "curiosity of observations": ppoLatentOfObservations("curiosity"),
	} {
		c.Steps, c.Evaluation.Every = 25, 25 // one step after the last refit, in which no model learns
		m, _ := maze.Find("maze-sparse")
		mazes := mazeTask(t)
		mazes.New = func(seed uint64) (task.Env, error) { return &respawning{Env: m.New(maze.Training, seed)}, nil }
		dev := quick(t, 1)
		c = inEnvSteps(c)
		p, err := newParts(&c, mazes, dev)
		if err != nil {
			t.Fatal(err)
		}
		var film []replay.FrameRow
		p.Learner = following(p.Learner, func(all []experience.Met) {
			for _, m := range all {
				film = append(film, filmed(m))
			}
		})
		l, err := newLab(c, mazes, nil, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		l.OnFault(FaultFail)
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkF(t, l, name, film[8*3:24*3])
	}
}

// scoresOf returns the run's F of the observed transitions.
func scoresOf(t *testing.T, l *Lab, film []replay.FrameRow) []float32 {
	t.Helper()
	r := l.x.first()
	f, err := r.Functions.Function(l.config.Knobs.Relevance)
	if err != nil {
		t.Fatal(err)
	}
	b, all := replay.NewBatch(r.Real.Shape(), len(film)), make([]float32, len(film))
	b.Frames = film
	for _, row := range film {
		b.Notes = append(b.Notes, replay.Note{Met: true, Respawned: row.Respawned})
	}
	if err := f.Score(all, b, len(film)); err != nil {
		t.Fatal(err)
	}
	return all
}

// judged gives each respawn the F of another transition, spread evenly over these.
func judged(scores []float32, film []replay.FrameRow) []float32 {
	all, others, k := slices.Clone(scores), []float32(nil), 0
	for i, row := range film {
		if !row.Respawned {
			others = append(others, scores[i])
		}
	}
	for i, row := range film {
		if row.Respawned {
			all[i] = others[replay.OneOf(k, 0, len(others))]
			k++
		}
	}
	return all
}

// checkF compares D_real's F with that of the observed transitions.
func checkF(t *testing.T, l *Lab, name string, film []replay.FrameRow) {
	t.Helper()
	r := l.x.first()
	if r.Real.Len() != len(film) || r.Models[0].Updates != 2 || r.Models[0].Missed != 0 {
		t.Fatalf("%s: D_real has %d rows, want %d; models %+v", name, r.Real.Len(), len(film), r.Models)
	}
	want, none := scoresOf(t, l, film), 0
	for i, row := range film {
		if (want[i] == 0) != row.Respawned {
			t.Errorf("%s: F of row %d is %v; respawned: %v", name, i, want[i], row.Respawned)
		}
		if row.Respawned {
			none++
		}
	}
	// The fit has F of others for respawns.
	want = judged(want, film)
	scores, _ := r.Synthesis.Scores()
	for i, v := range scores {
		seen := replay.NewFrameRows(1, len(film[i].Stack))[0]
		same := r.Real.Seen(&seen, i) == nil && slices.Equal(seen.Obs, film[i].Obs) && slices.Equal(seen.NextObs, film[i].NextObs)
		if !same || !slices.EqualFunc(seen.Stack, film[i].Stack, bytes.Equal) || !slices.EqualFunc(seen.Next, film[i].Next, bytes.Equal) {
			t.Fatalf("%s: row %d was made from something else", name, i)
		}
		if math.Abs(float64(v-want[i])) > 1e-5*math.Abs(float64(want[i])) {
			t.Errorf("%s: F of row %d is %v, want %v; respawned: %v", name, i, v, want[i], film[i].Respawned)
		}
	}
	if none == 0 || none == len(scores) || slices.Max(scores) == slices.Min(scores) {
		t.Errorf("%s: %d respawns of %d rows", name, none, len(scores))
	}
}

// The forecast of a checkpoint includes the frames of kept transitions, packed, and those that
// generated latents are aligned by. The forecast of memory includes the frames of the window and
// the rows of D_real that are made from them.
func TestWhatGenerativeReplayFromFramesTakes(t *testing.T) {
	const frame = 36 * 36 * 3
	with := func(change func(*ppo.Settings)) config.Config {
		c := ppoLatentOfFrames("none")
		c.Steps, c.Buffer = 1000, 100_000
		own := c.Agent.Own["ppo"].(ppo.Settings)
		change(&own)
		c.Agent.Own = agent.Own{"ppo": own}
		return c
	}
	disk := func(change func(*ppo.Settings)) int64 {
		l := framesOn(t, with(change), mazeTask(t), quick(t, 1), nil)
		defer l.Close()
		d, err := l.DiskNeed()
		if err != nil {
			t.Fatal(err)
		}
		return d.Checkpoint
	}
	least := disk(func(s *ppo.Settings) { s.KeepRewarded, s.AlignRows = 0, 10 })
	if got := disk(func(s *ppo.Settings) { s.KeepRewarded, s.AlignRows = 10, 10 }) - least; got != 2*10*(frame/config.HistoryPacked+4*maze.ActSize) {
		t.Errorf("10 transitions that stay are %d bytes of a checkpoint", got)
	}
	if got := disk(func(s *ppo.Settings) { s.KeepRewarded, s.AlignRows = 0, 20 }) - least; got != 10*(frame/config.HistoryPacked+4*maze.ActSize+4*6) {
		t.Errorf("10 rows to align by are %d bytes of a checkpoint", got)
	}
	memory := func(window int) (bytes float64) {
		c := with(func(s *ppo.Settings) { s.Window = window })
		for _, part := range c.Memory(mazeTask(t)) {
			bytes += part.Bytes
		}
		return bytes
	}
	if got, more := memory(12)-memory(2), float64(10*8*3*frame); got < more || got > 1.1*more {
		t.Errorf("ten iterations more in the window are %g bytes, their frames %g", got, more)
	}
	c := inEnvSteps(with(func(*ppo.Settings) {}))
	if rows := c.Collected(); rows != 2*8*3 || cost.Stored(&c, &c.Knobs) != 24+123*rows {
		t.Errorf("D_real has %d rows, %d are stored", rows, cost.Stored(&c, &c.Knobs))
	}
	for _, function := range []string{"curiosity", "rnd"} { // both learn as frames are seen
		c.Knobs.Relevance, c.Knobs.RefitEvery = function, 3*24
		if (cost.Units{Sample: 1, Warm: 1}).Whole(&c) != (cost.Units{Sample: 1}).Whole(&c) {
			t.Errorf("%s: the time of a refit has that of its model", function)
		}
	}
}
