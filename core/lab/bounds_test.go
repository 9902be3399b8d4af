package lab

import (
	"context"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/table"
	"pgrlab/core/testing/cputest"
)

// A configuration that no machine can run is refused in one line. The line names the setting and,
// where memory is the problem, how much the run would take and how much there is.
func TestHostileConfigurations(t *testing.T) {
	dev := testDevice(t)
	for _, c := range []struct {
		name   string
		change func(*config.Config)
		wants  []string
	}{
		{"wider than anything", func(c *config.Config) { c.Agent.Hidden = []int{9_000_000_000_000} }, []string{"agent.hidden is 9000000000000, want at most 999,999,999"}},
		{"wide", func(c *config.Config) { c.Agent.Hidden = []int{3_000_000, 3_000_000} }, []string{"needs about ", "TiB of memory", "GiB", "for agent.hidden [3000000 3000000] with agent.critics 2"}},
		{"deep", func(c *config.Config) { c.Agent.Hidden = make([]int, 10_000) }, []string{"agent.hidden has 10000 elements, want at most 100"}},
		{"many members", func(c *config.Config) { c.Members = 100_000_000 }, []string{"members is 100000000, want at most 1,000"}},
		{"large members", func(c *config.Config) { c.Members, c.Agent.Hidden = 1000, []int{100_000, 10_000} }, []string{"needs about ", "members 1000"}},
		{"many episodes", func(c *config.Config) { c.Evaluation.Episodes = 1_000_000_000 }, []string{"evaluation.episodes is 1000000000, want at most 4,096"}},
		{"a wide generator", func(c *config.Config) { c.Generator.Width = 900_000_000 }, []string{"needs about ", "EiB of memory", "for generator.width 900000000"}},
		{"a wider generator", func(c *config.Config) { c.Generator.Width = 1_000_000_000 }, []string{"generator.width is 1000000000, want at most"}},
		{"a wide VAE", func(c *config.Config) {
			withVAE(c, func(v *generative.VAEConfig) { v.Width, v.Bottleneck = 100_000_000, 100_000 })
		}, []string{"needs about ", "generator.vae.width 100000000"}},
		{"many critics", func(c *config.Config) { c.Agent.Critics = 1_000_000 }, []string{"agent.critics is 1000000, want at most 100,000"}},
		{"large critics", func(c *config.Config) { c.Agent.Critics, c.Agent.Hidden = 100_000, []int{2560, 2560} }, []string{"needs about ", "agent.critics 100000"}},
		{"buffer", func(c *config.Config) { c.Buffer = math.MaxInt64 }, []string{"buffer is 9223372036854775807, want at most"}},
		{"a full buffer", func(c *config.Config) {
			c.Buffer, c.Steps, c.Knobs.Samples, c.Members = 999_999_999, 999_999_999, 100_000_000, 1000
		}, []string{"needs about ", "for buffer 999999999, members 1000"}},
		{"dormant states", func(c *config.Config) { c.Evaluation.DormantStates = math.MaxInt64 }, []string{"evaluation.dormant_states is 9223372036854775807, want at most"}},
		{"more dormant states than are looked at", func(c *config.Config) { c.Evaluation.DormantStates = 4097 }, []string{"evaluation.dormant_states is 4097, want at most 4,096"}},
		{"a negative width", func(c *config.Config) { c.Generator.Width = math.MinInt64 }, []string{"generator.width is -9223372036854775808, want at least 0"}},
		{"steps beyond the names of checkpoints", func(c *config.Config) { c.Steps = 1_000_000_000 }, []string{"steps is 1000000000, want at most 999,999,999"}},
		{"a seed beyond TOML", func(c *config.Config) { c.Seed = 1 << 63 }, []string{"seed is 9223372036854775808, want at most 9223372036854775807"}},
		{"no number", func(c *config.Config) { c.Generator.PMean = math.NaN() }, []string{"generator.p_mean is NaN"}},
		{"beyond numbers", func(c *config.Config) { changeICM(c, func(i *relevance.ICMConfig) { i.NoiseStd = 1e300 }) }, []string{"curiosity.noise_std is 1e+300, want a number of at most 1e+18"}},
		{"an action for ever", func(c *config.Config) { c.Environment.ActionRepeat = 1_000_000 }, []string{"environment.action_repeat is 1000000, want at most 1,000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := realConfig()
			c.change(&config)
			err := config.Validate()
			if err == nil {
				var l *Lab
				if l, err = New(context.Background(), config, newWorld().task(), dev, nil); err == nil {
					l.Close()
					t.Fatal("it was built")
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			for _, want := range c.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// The limit of a process is the least of what the machine, its control group and ulimit -v allow.
func TestMachinesRefuse(t *testing.T) {
	c, task := realConfig(), newWorld().task()
	for _, m := range []struct {
		machine config.Machine
		want    string
	}{
		{config.Machine{}, ""},
		{config.Machine{Memory: 1 << 40, Says: "this machine has", Address: 1 << 40}, ""},
		{config.Machine{Memory: 1 << 20, Says: "this machine has"}, "needs about 64.83 MiB of memory, this machine has 1 MiB: 48.19 MiB of it for evaluation.episodes 3: choose smaller ones"},
		{config.Machine{Memory: 1 << 40, Address: 1 << 30}, "of address space, ulimit -v allows 1 GiB: raise it to "},
	} {
		err := c.FitsInto(m.machine, task)
		if m.want == "" && err != nil || m.want != "" && (err == nil || !strings.Contains(err.Error(), m.want)) {
			t.Errorf("%+v: %v, want %q", m.machine, err, m.want)
		}
	}
	if m := config.ThisMachine(); m.Memory < 1<<26 || m.Memory > 1<<50 {
		t.Errorf("this machine is said to have %v", m.Memory)
	}
}

// The forecast matches what a run takes: it is not much more, or runs that fit would be refused,
// and not a small part of it.
func TestMemoryForecast(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	for name, change := range map[string]func(*config.Config){
		"critics": func(c *config.Config) { c.Agent.Hidden, c.Agent.Critics = []int{256, 256}, 10 },
		"members": func(c *config.Config) { c.Agent.Hidden, c.Members = []int{256, 256}, 3 },
		"noisy": func(c *config.Config) {
			c.Agent.Hidden, c.Agent.Exploration, c.Agent.NoisySigma = []int{384, 384}, "noisy", 0.5
		},
		"synther": func(c *config.Config) {
			c.Generator.Architecture, c.Generator.Width, c.Generator.Blocks = "synther", 384, 3
		},
		"pgr": func(c *config.Config) {
			c.Generator.Architecture, c.Generator.Width, c.Generator.Blocks = "pgr", 384, 3
		},
		"chunk": func(c *config.Config) {
			c.Generator.Chunk, c.Generator.Width, c.Knobs.Samples, c.Buffer = 5_000, 256, 5_000, 5_000
		},
		"vae": func(c *config.Config) {
			withVAE(c, func(v *generative.VAEConfig) { v.Width, v.Bottleneck = 1024, 256 })
		},
		"curiosity": func(c *config.Config) { changeICM(c, func(i *relevance.ICMConfig) { i.Hidden, i.Batch = 192, 64 }) },
		"scores": func(c *config.Config) {
			changeICM(c, func(i *relevance.ICMConfig) { i.Hidden, i.ScoreRows = 32, 20_000 })
		},
		"dormant": func(c *config.Config) { c.Evaluation.DormantStates, c.Agent.Hidden = 4096, []int{256, 256} },
	} {
		t.Run(name, func(t *testing.T) {
			c := realConfig()
			c.Steps, c.Knobs.GeneratorSteps, c.Knobs.UTD = 13, 2, 1
			change(&c)
			before := heap()
			l, err := New(context.Background(), c, newWorld().task(), dev, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := l.x.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			taken, forecast := heap()-before, 0.0
			for _, p := range c.Memory(newWorld().task()) {
				forecast += p.Bytes
			}
			simulator := float64(c.Members) * config.Physics * 4 // the scripted world has no simulator
			forecast -= simulator
			if share := forecast / taken; share < 0.35 || share > 1.3 {
				t.Errorf("forecast %.4g MiB, taken %.4g MiB", forecast/(1<<20), taken/(1<<20))
			} else {
				t.Logf("forecast %.4g MiB, taken %.4g MiB", forecast/(1<<20), taken/(1<<20))
			}
			runtime.KeepAlive(l)
		})
	}
}

func heap() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}

// numbersOf returns the numbers of a configuration that can be set.
func numbersOf(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("toml") != "-" {
				all = append(all, numbersOf(v.Field(i))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, numbersOf(v.Index(i))...)
		}
	case reflect.Int, reflect.Uint64, reflect.Float64:
		return []reflect.Value{v}
	}
	return all
}

// Whatever numbers a configuration holds, either it is refused in one line or it can be built, and
// then takes no more memory than forecast.
func FuzzConfiguration(f *testing.F) {
	count := len(numbersOf(reflect.ValueOf(new(config.Config).Document()).Elem()))
	some := []int64{0, -1, 1000, 1 << 31, math.MaxInt64, math.MinInt64}
	if os.Getenv("PGRLAB_SOAK") != "" {
		some = append(some, 1, 3, 1<<62)
	}
	for i := range count {
		for _, n := range some {
			f.Add(uint16(i), n, uint16(i+7), int64(2))
		}
	}
	f.Add(uint16(3), int64(math.Float64bits(math.Inf(1))), uint16(9), int64(math.Float64bits(math.NaN())))
	dev := testDevice(f)
	task := newWorld().task()
	const room = 64 << 20
	f.Fuzz(func(t *testing.T, i uint16, a int64, j uint16, b int64) {
		c := realConfig()
		if i&1 == 1 {
			c.Generator.Kind = "vae"
		}
		doc := c.Document()
		fields := numbersOf(reflect.ValueOf(doc).Elem())
		for _, set := range []struct {
			at uint16
			n  int64
		}{{i, a}, {j, b}} {
			switch f := fields[int(set.at)%len(fields)]; f.Kind() {
			case reflect.Int:
				f.SetInt(set.n)
			case reflect.Uint64:
				f.SetUint(uint64(set.n))
			case reflect.Float64:
				f.SetFloat(math.Float64frombits(uint64(set.n)))
			}
		}
		table.Take(&c, doc)
		err := c.Validate()
		if err == nil {
			err = c.FitsInto(config.Machine{Memory: room + 4*config.Physics*float64(c.Members) + config.Physics*float64(c.Members), Says: "this machine has"}, task)
		}
		if c.Members > 20 && err == nil {
			return // such runs only take time
		}
		if err == nil {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var l *Lab
			if l, err = New(context.Background(), c, task, dev, nil); err == nil {
				l.Close()
			}
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 4*room {
				t.Errorf("building it took %d bytes", taken)
			}
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 500) {
			t.Errorf("not a line: %v", err)
		}
	})
}
