package dreamer

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
)

// recordedReplay is testdata/dreamer_replay.json: what the replay of danijar/dreamerv3 @e3f0224 did.
type recordedReplay struct {
	Starts struct {
		Length int
		Of     []struct {
			Envs  int
			First int   `json:"first_step_with_an_update"`
			Next  []int `json:"updates_in_the_next_steps"`
		}
	} `json:"learning_starts"`
	Half    recordedRatio `json:"ratio_one_half"`
	Quarter recordedRatio `json:"ratio_one_quarter"`
	Fresh   struct {
		Starts       []int `json:"start_of_row"`
		Fresh, Items int
		X            golden.Array
		IsFirst      golden.Array `json:"is_first"`
		IsLast       golden.Array `json:"is_last"`
	} `json:"fresh_first"`
	Annotate struct {
		IsFirst golden.Array `json:"is_first"`
		IsLast  golden.Array `json:"is_last"`
		First   golden.Array `json:"is_first_after"`
		Last    golden.Array `json:"is_last_after"`
	}
	Context struct {
		Stored               map[string]golden.Array
		StoredFirst          golden.Array `json:"is_first_stored"`
		Carry                golden.Array `json:"carry_deter"`
		Obs, Reward, PrevAct golden.Array
		IsFirst              golden.Array `json:"is_first"`
	}
}

// recordedRatio is how many updates env steps had.
type recordedRatio struct{ Steps, Updates []int }

func readReplay(t *testing.T) (r recordedReplay) {
	t.Helper()
	golden.Recorded(t, "dreamer_replay.json", &r)
	return r
}

// shown is a look of a copy, the action that follows it, and what led to it unless it begins an episode.
type shown struct {
	copied              int
	obs, action, reward float32
	first               bool
	end                 experience.End
}

// logOf returns a log of looks of one number.
func logOf(copies int, looks []shown) *experience.Log {
	log := experience.NewLog(experience.Shape{Numbers: 1, Act: 1, Copies: copies}, experience.Keep{Looks: 4 * copies * len(looks), Steps: 2 * len(looks)})
	action := make([]float32, copies)
	for _, l := range looks {
		next := experience.Look{Numbers: []float32{l.obs}}
		if l.first {
			log.Begin(l.copied, next)
		} else {
			log.Add(l.copied, experience.Step{Action: action[l.copied : l.copied+1], Reward: l.reward, Next: next, End: l.end})
		}
		action[l.copied] = l.action
	}
	return log
}

// short is a configuration of looks of one number.
func short(copies, sequences, length int) Config {
	c := small()
	c.Shape, c.Copies = replay.Shape{Obs: 1, Act: 1}, copies
	c.Sequences, c.Length, c.TrainRatio = sequences, length, sequences*length
	return c
}

// filled returns the first batch of an agent.
func filled(t *testing.T, x *Agent) *batch {
	t.Helper()
	b := newBatch(x.config)
	if err := b.fill(x, make([]uint64, x.config.Copies)); err != nil {
		t.Fatal(err)
	}
	return b
}

// flags compares a column [T,N] with recorded ones of each sequence, which may begin with that of the context.
func flags(t *testing.T, what string, got []bool, want golden.Array, c Config, rows int) {
	t.Helper()
	length := want.Shape[1]
	for row := range rows {
		for at := range c.Length {
			if is := got[at*c.Sequences+row]; is != (want.Data[(row+1)*length-c.Length+at] == 1) {
				t.Errorf("row %d, look %d: %s %v", row, at+1, what, is)
			}
		}
	}
}

// TestGoldenStarts holds when learning begins, and how often an env step then has an update, to the original.
func TestGoldenStarts(t *testing.T) {
	r := readReplay(t)
	if len(r.Starts.Of) == 0 {
		t.Error("no beginnings are recorded")
	}
	if n := DefaultSettings.Length + 1; n != r.Starts.Length { // with the look before the first one
		t.Errorf("sequences have %d looks, want %d", n, r.Starts.Length)
	}
	for _, of := range r.Starts.Of {
		c := Config{Settings: DefaultSettings, Shape: replay.Shape{Obs: 1, Act: 1}, Copies: of.Envs}
		log := experience.NewLog(experience.Shape{Numbers: 1, Act: 1, Copies: of.Envs}, experience.Keep{Looks: 1 << 14, Steps: 1 << 12})
		m := newMemory(c, log, rng.New(1, "sequences"))
		looks := 0
		for m.Len(c.Length+1) < c.rows() {
			for i := range of.Envs {
				if looks < of.Envs {
					log.Begin(i, experience.Look{Numbers: []float32{0}})
				} else {
					log.Add(i, experience.Step{Action: []float32{0}, Next: experience.Look{Numbers: []float32{0}}})
				}
				looks++
			}
		}
		if looks != of.First {
			t.Errorf("%d environments: learning begins after %d steps, want %d", of.Envs, looks, of.First)
		}
		if p := c.pace(); len(of.Next) == 0 || p.Every != 1 || slices.Min(of.Next) != p.Updates || slices.Max(of.Next) != p.Updates {
			t.Errorf("%d environments: updates come as %+v, want %v in env steps", of.Envs, p, of.Next)
		}
	}
}

// TestGoldenRatios compares which env steps have an update where not all have one. The original counts env steps
// from its first update.
func TestGoldenRatios(t *testing.T) {
	r := readReplay(t)
	for every, of := range map[int]recordedRatio{2: r.Half, 4: r.Quarter} {
		c := short(1, 4, 4)
		c.TrainRatio, c.Begin = c.rows()/every, 1
		x := newAgent(t, c, filledLog(c, 20, 10), 1)
		if len(of.Steps) <= every || len(of.Updates) != len(of.Steps) {
			t.Fatalf("%d env steps are recorded, and the updates of %d", len(of.Steps), len(of.Updates))
		}
		for i, step := range of.Steps {
			if due := x.due(&agent.Work{Step: step - of.Steps[0]}); due != (of.Updates[i] == 1) {
				t.Errorf("an update in %d env steps, step %d: it is due %v", every, step, due)
			}
		}
	}
}

// TestGoldenReplay holds the choice of sequences, and where they say that episodes begin and end, to the original.
func TestGoldenReplay(t *testing.T) {
	r := readReplay(t).Fresh
	if len(r.Starts) == 0 || len(r.X.Shape) != 2 || r.X.Shape[0] != len(r.Starts) || r.Fresh < 1 || r.Fresh > len(r.Starts) || len(r.IsFirst.Data) != len(r.X.Data) || len(r.IsLast.Data) != len(r.X.Data) {
		t.Fatalf("of %d sequences, %d of new looks, these looks are recorded: %v", len(r.Starts), r.Fresh, r.X.Shape)
	}
	length := r.X.Shape[1]
	begins := map[float64]bool{1: true} // the first of a sequence is marked wherever it is in its episode
	for i, number := range r.X.Data {
		if i%length > 0 && r.IsFirst.Data[i] == 1 {
			begins[number] = true
		}
	}
	var looks []shown
	for number := 1; number <= r.Items+length-1; number++ {
		l := shown{obs: float32(number), first: begins[float64(number)]}
		if begins[float64(number+1)] {
			l.end = experience.Truncated
		}
		looks = append(looks, l)
	}
	c := short(1, len(r.Starts), length-1)
	x := newAgent(t, c, logOf(1, looks), 1)
	fresh, b := make([]uint64, 1), newBatch(c)
	if err := b.fill(x, fresh); err != nil {
		t.Fatal(err)
	}
	if fresh[0] != uint64(r.Fresh) || len(begins) < 2 {
		t.Errorf("%d sequences of new looks and %d episodes, want %d and several", fresh[0], len(begins), r.Fresh)
	}
	for row, start := range r.Starts[:r.Fresh] {
		if got := b.refs[row].Number; got != uint64(start) { // looks count from 0, and the first one is context
			t.Errorf("row %d begins with look %d, want %d", row, got, start)
		}
		for at := range c.Length {
			if got, want := symexp(float64(b.obs[at*c.Sequences+row])), r.X.Data[row*length+at+1]; !(math.Abs(got-want) < 1e-4) {
				t.Errorf("row %d, look %d is %v, want %v", row, at+1, got, want)
			}
		}
	}
	flags(t, "the first of its episode", b.first, r.IsFirst, c, r.Fresh)
	flags(t, "the last of its episode", b.last, r.IsLast, c, r.Fresh)
}

// TestGoldenAnnotations holds the ends of episodes that were given up to the original: the look before the first of
// another one is a last one.
func TestGoldenAnnotations(t *testing.T) {
	r := readReplay(t).Annotate
	if len(r.IsFirst.Shape) != 2 || len(r.First.Data) != len(r.IsFirst.Data) || len(r.Last.Data) != len(r.IsFirst.Data) || len(r.IsLast.Data) != len(r.IsFirst.Data) || !slices.Contains(r.Last.Data, 1) {
		t.Fatalf("%+v are recorded", r)
	}
	var looks []shown
	for i, first := range r.IsFirst.Data {
		l := shown{first: i == 0 || first == 1}
		if r.IsLast.Data[i] == 1 {
			l.end = experience.Truncated
		}
		looks = append(looks, l)
	}
	c := short(1, r.IsFirst.Shape[0], r.IsFirst.Shape[1]-1)
	b := filled(t, newAgent(t, c, logOf(1, looks), 1))
	flags(t, "the first of its episode", b.first, r.First, c, c.Sequences)
	flags(t, "the last of its episode", b.last, r.Last, c, c.Sequences)
}

// TestGoldenContext holds what a sequence begins with to the original: the latent of the look before it, with the
// action that followed there; that this look is the first of an episode resets nothing. All sequences are of one
// copy, or each is of its own.
func TestGoldenContext(t *testing.T) {
	r := readReplay(t).Context
	stored := r.Stored["dyn/deter"]
	if len(stored.Shape) != 3 || stored.Shape[0] < 2 || len(r.Carry.Data) != stored.Shape[0]*stored.Shape[2] {
		t.Fatalf("%v latents are stored, %v of them begin sequences", stored.Shape, r.Carry.Shape)
	}
	n, length := stored.Shape[0], stored.Shape[1]
	for _, copies := range []int{1, n} {
		c := short(copies, n, length-1)
		c.Deter, c.Blocks = stored.Shape[2], 1
		var looks []shown
		for i, first := range r.StoredFirst.Data {
			at := func(name string) float32 { return float32(r.Stored[name].Data[i]) }
			looks = append(looks, shown{copied: i / length % copies, obs: at("obs"), action: at("action"), reward: at("reward"), first: first == 1})
		}
		x := newAgent(t, c, logOf(copies, looks), 1)
		scale := float32(1 + slices.Max(stored.Data)) // the numbers of a latent are within [-1,1]
		classes := putLatents(x, stored.Float32(), scale, n/copies*length)
		b := filled(t, x)
		for i, want := range r.Carry.Float32() {
			if got := scale * b.deter[i]; !(math.Abs(float64(got-want)) <= float64(scale)/math.MaxInt16) {
				t.Errorf("%d copies: number %d before the sequences is %v, want %v", copies, i, got, want)
			}
		}
		for row := range n {
			if got, want := b.stoch[row*c.groups():][:c.groups()], classes[row*length]; !slices.Equal(got, want) {
				t.Errorf("%d copies: the classes before sequence %d are %v, want %v", copies, row, got, want)
			}
		}
		obs := make([]float32, len(r.Obs.Data))
		symlog(obs, r.Obs.Float32())
		if !slices.Equal(bySequence(b.obs, c), obs) || !slices.Equal(bySequence(b.reward, c), r.Reward.Float32()) || !slices.Equal(bySequence(b.action, c), r.PrevAct.Float32()) {
			t.Errorf("%d copies: the observations are %v, the rewards %v, the actions before them %v", copies, b.obs, b.reward, b.action)
		}
		flags(t, "the first of its episode", b.first, r.IsFirst, c, n)
	}
}

// putLatents keeps latents of looks, so many of each copy, and returns classes that differ from look to look.
func putLatents(x *Agent, deter []float32, scale float32, looks int) (classes [][]float32) {
	c := x.config
	for i := range len(deter) / c.Deter {
		stoch := make([]float32, c.groups())
		for g := range c.Stoch {
			stoch[g*c.Classes+(i+g)%c.Classes] = 1
		}
		d := slices.Clone(deter[i*c.Deter:][:c.Deter])
		for j := range d {
			d[j] /= scale
		}
		x.memory.latents[i/looks].put(uint64(i%looks), 0, d, stoch)
		classes = append(classes, stoch)
	}
	return classes
}
