package lab

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replica"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// smallest returns the smallest run of a learner with a generator, and its task. A learner that has no
// line here has its default settings.
func smallest(t *testing.T, s agent.Spec, observation string) (config.Config, task.Task) {
	t.Helper()
	c, of := tiny.Config(), tiny.Task()
	if s.Discrete {
		of = mazeTask(t)
	}
	switch s.Name + " from " + observation {
	case "dreamer from state":
		c = dreamerConfig()
	case "dreamer from pixels":
		c = dreamerOfFrames()
	case "drqv2 from pixels":
		c = looking("rnd")
	case "ppo from state":
		c = ppoLatentOfObservations("rnd")
		c.Relevance = c.Relevance.With("eco", ppoConfig("eco").Relevance.Of("eco"))
	case "ppo from pixels":
		c = ppoLatentOfFrames("rnd")
	case "max from state":
		explored(&c)
	default:
		c.Agent.Learner, c.Environment.Observation = s.Name, observation
		if s.Observes { // it may learn only where an episode ends
			c.Steps, c.Evaluation.Every = tiny.Episode+6, 33
		}
	}
	return c, of
}

// besideGenerator is the end of the names of runs with a bonus beside a generator.
const besideGenerator = " beside a generator"

// besides returns the runs of a learner with what a run can have beside it.
func besides(c config.Config) map[string]config.Config {
	all := map[string]config.Config{}
	with := func(name string, change func(*config.Config)) {
		own := c
		change(&own)
		all[name] = inEnvSteps(own)
	}
	with("alone", withoutGenerator)
	with("generator", func(c *config.Config) {
		c.Generator.Conditional, c.Knobs.Relevance, c.Environment.Copies, c.Members = false, relevance.None, 3, 2
	})
	with("every F", func(c *config.Config) {
		k, _ := knob.Find("relevance")
		for i, name := range c.Offered(k).Choices {
			c.Schedule = append(c.Schedule, fmt.Sprintf("%d:relevance=%s!", 11+i, name))
		}
	})
	for _, f := range relevance.Specs() {
		bonus := config.Bonus{Function: f.Name, Scale: config.ScaleReturns}
		switch f.Learning {
		case relevance.LearnsNothing:
			continue
		case relevance.LearnsInRounds:
			bonus.Scale = config.ScalePaper
		}
		with("a bonus of "+f.Name, func(c *config.Config) {
			withoutGenerator(c)
			c.Bonus, c.Knobs.Bonus, c.Environment.Copies = bonus, 0.25, 3
		})
		with("a bonus of "+f.Name+besideGenerator, func(c *config.Config) {
			c.Bonus, c.Knobs.Bonus = bonus, 0.25
		})
	}
	return all
}

// goOnHere are the runs, by learner, that no other test takes up again where they were saved.
var goOnHere = map[string]string{"ppo from state": "a bonus of rnd", "dreamer from state": "a bonus of rnd"}

// Every registered learner, with each observation that it takes, goes on from where it was saved in any
// phase: alone, beside a generator with every F, with every bonus, in copies and in a cohort. Knobs turn
// in the middle of every phase. A bonus beside a generator is of one F for each learner in turn; the
// long form has all.
func TestEveryLearnerGoesOn(t *testing.T) {
	turn := 0
	for _, s := range agent.Specs() {
		if s.Idle { // it is in no run of env steps: TestADreamGoesOn
			continue
		}
		for _, observation := range []string{task.ObservationState, task.ObservationPixels} {
			if s.Takes == agent.TakesStates && observation == task.ObservationPixels || s.Takes == agent.TakesPixels && observation == task.ObservationState {
				continue
			}
			turn++
			turn := turn
			t.Run(s.Name+" from "+observation, func(t *testing.T) {
				t.Parallel()
				c, of := smallest(t, s, observation)
				dev := quick(t, 1)
				all := besides(c)
				if name := goOnHere[s.Name+" from "+observation]; name != "" && all[name].Method == "" {
					t.Errorf("there is no run with %s", name)
				}
				var beside []string
				for _, name := range slices.Sorted(maps.Keys(all)) {
					first, begin, err := makes(all[name], of, dev)
					switch last := strings.HasSuffix(name, besideGenerator); {
					case err == nil && last && !soaking():
						first.Close()
						beside = append(beside, name)
					case err == nil:
						t.Run(name, func(t *testing.T) { conforms(t, all[name], first, begin) })
					case name == "alone" && !s.Explores || name == "every F" && s.Synthetic || name == goOnHere[s.Name+" from "+observation]:
						t.Errorf("what its smallest run needs belongs into smallest: %v", err)
					default:
						t.Logf("not with %s: %v", name, err)
					}
				}
				if len(beside) > 0 {
					c := all[beside[turn%len(beside)]]
					first, begin, err := makes(c, of, dev)
					if err != nil {
						t.Fatal(err)
					}
					t.Run(beside[turn%len(beside)], func(t *testing.T) { conforms(t, c, first, begin) })
				}
			})
		}
	}
}

// soaking says whether the long form of a test was asked for.
func soaking() bool { return os.Getenv("PGRLAB_SOAK") != "" }

// makes returns a first lab, and what makes others, or why the run is refused.
func makes(c config.Config, of task.Task, dev device.Device) (first *Lab, begin func(schedule []string, folder record) (*Lab, error), err error) {
	p, err := newParts(&c, of, dev)
	if err != nil {
		return nil, nil, err
	}
	begin = func(schedule []string, folder record) (*Lab, error) {
		c := c
		c.Schedule = schedule
		l, err := newLab(c, of, folder, p, "cpu test", clock())
		if err == nil {
			l.OnFault(FaultFail)
		}
		return l, err
	}
	first, err = begin(c.Schedule, &memoryFolder{})
	return first, begin, err
}

// conforms plays a run twice: first to see where its borders are, and then with knobs that turn at
// some of them. The second one is resumed from a border in the middle of each phase, and without an F that
// learns from another one as well.
func conforms(t *testing.T, c config.Config, first *Lab, begin func([]string, record) (*Lab, error)) {
	t.Helper()
	var phases []string
	for _, p := range first.x.first().Agent.Phases {
		phases = append(phases, p.Name)
	}
	if said := c.Traits(first.x.task).Phases; !slices.Equal(phases, said) {
		t.Fatalf("it has the phases %q, its Spec says %q", phases, said)
	}
	places := map[knob.Phase][]knob.Position{}
	borders(t, first, &memoryFolder{}, func(_ int, p knob.Position) bool {
		places[p.Phase] = append(places[p.Phase], p)
		return false
	})
	if len(places[knob.Evaluate]) == 0 || first.x.first().Updates == 0 && len(places[knob.Learn]) == 0 {
		t.Fatalf("its smallest run learns nothing, or is not evaluated: %v", places)
	}
	schedule := append(c.Schedule, turnsAt(&c, places)...)
	again := func(folder record) *Lab {
		l, err := begin(schedule, folder)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	seen, most := map[knob.Phase]int{}, 2
	if c.Bonus.Function != config.FunctionNone || len(c.Schedule) > 0 { // the learner's phases are those of its other runs
		most = 1
	}
	resumeFrom(t, func(_ int, p knob.Position) bool {
		seen[p.Phase]++
		every := max(1, (len(places[p.Phase])+1)/2)
		return seen[p.Phase]%every == 0 && seen[p.Phase] <= most*every || soaking()
	}, again)
	actsAgain(t, again)
}

// turnsAt returns changes of the knobs that a run uses, one in the middle of each phase.
func turnsAt(c *config.Config, places map[knob.Phase][]knob.Position) (schedule []string) {
	var used []knob.Knob
	for _, k := range knob.All() {
		if c.Uses(k) == nil && k.Name != "relevance" {
			used = append(used, k)
		}
	}
	for i, phase := range []knob.Phase{knob.Learn, knob.Encode, knob.Fit, knob.Generate, knob.Evaluate, knob.Score, knob.Rollout, knob.Reach, knob.Model, knob.AfterStep} {
		if at := places[phase]; len(at) > 0 && len(used) > 0 {
			k := used[i%len(used)]
			v, _ := c.Knobs.Get(k.Name)
			to := k.Next(v, 1)
			if to == v {
				to = k.Next(v, -1)
			}
			schedule = append(schedule, fmt.Sprintf("%s:%s=%s", at[len(at)/2], k.Name, to))
		}
	}
	return schedule
}

// actsAgain checks that a learner acts the same when it is asked the same twice, and after it was saved
// and loaded.
func actsAgain(t *testing.T, begin func(record) *Lab) {
	t.Helper()
	one, other := begin(nil), begin(nil)
	defer one.Close()
	defer other.Close()
	one.x.begin(1)
	if err := one.x.collect(); err != nil {
		t.Fatal(err)
	}
	m := one.x.first()
	for i, from := range m.Sections() {
		switch to := other.x.first().Sections()[i]; to.Name {
		case m.Named(replica.SectionLooks), m.Named(replica.SectionFrames), m.Named(replica.SectionPinned), m.Named(replica.SectionAgent):
			var file bytes.Buffer
			if err := from.Part.Save(&file); err != nil {
				t.Fatal(err)
			}
			if err := to.Part.Load(&file); err != nil {
				t.Fatal(err)
			}
		}
	}
	stack, _ := m.Observed.Looks()
	for _, mode := range []agent.Mode{agent.Mean, agent.Explore} {
		act := func(l agent.Learner) []float32 {
			a := agent.Acting{
				Copies: 1, Obs: m.World.Row(m.World.Obs, 0), Actions: make([]float32, m.World.ActSize()),
				State: make([]float32, l.StateSize()), Episodes: []uint64{1}, Step: 2, Mode: mode,
			}
			if stack != nil {
				a.Stacks = [][][]byte{stack}
			}
			if err := l.Act(&a); err != nil {
				t.Fatal(err)
			}
			return a.Actions
		}
		want := act(m.Agent)
		if again, loaded := act(m.Agent), act(other.x.first().Agent); !slices.Equal(again, want) || !slices.Equal(loaded, want) {
			t.Errorf("mode %d: it acts %v, then %v, and once loaded %v", mode, want, again, loaded)
		}
	}
}
