package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// MemoryPart is the memory that a part of a run takes, and the settings that it follows from.
type MemoryPart struct {
	Settings string
	Bytes    float64
}

const (
	// Physics is what an instance of the simulator takes, in bytes; copies of a task share up to
	// maxPhysics of them.
	Physics    = 16 << 20
	maxPhysics = 8
	// copied is about what a copy of a task takes in addition.
	copied = 64 << 10
	// reserved is the address space that the Go runtime and the simulator take in addition to
	// their memory; the heap may double before it is collected. Measured with ulimit -v: scale
	// demo on two threads takes 2.6 GiB.
	reserved = 2.3 * (1 << 30)
)

// Memory estimates what a run of c on a task takes at its end, part by part, the largest first.
// The estimate is never much more than the run will take. It does not overflow.
func (c *Config) Memory(task task.Task) []MemoryPart {
	shape := c.Rows(task)
	members, row := float64(c.Members), 4*float64(shape.Width())
	var all []MemoryPart
	add := func(bytes float64, format string, args ...any) {
		if c.Members > 1 {
			format, args = format+", members %d", append(args, c.Members)
		}
		all = append(all, MemoryPart{fmt.Sprintf(format, args...), members * bytes})
	}
	e, s := c.Evaluation, &c.Knobs
	batch := c.Mix(s, s.Samples).Size()
	add(c.learnerMemory(task, batch, 0), "agent.hidden %v with agent.critics %d", c.Agent.Hidden, c.Agent.Critics)
	if e.Every > 0 {
		add(c.learnerMemory(task, 0, e.DormantStates), "evaluation.dormant_states %d with agent.hidden %v", e.DormantStates, c.Agent.Hidden)
		add(c.learnerMemory(task, 0, e.Episodes)+Physics*float64(min(e.Episodes, maxPhysics))+copied*float64(e.Episodes), "evaluation.episodes %d", e.Episodes)
		add(6*row*float64(e.AnalysedRows), "evaluation.analysed_rows %d", e.AnalysedRows)
	}
	if copies := c.Environment.InLockstep(); copies > 1 {
		add(float64(copies-1)*(Physics+copied), "environment.copies %d", copies)
	}
	add(Physics+(row+8)*float64(c.Collected()), "buffer %d", c.Buffer)
	if c.Data.Pinned() {
		add(row*float64(c.Data.Rows), "data.rows %d", c.Data.Rows)
	}
	if c.Sees() {
		add(c.logMemory(task, c.Keeps(task)), "buffer %d with pixels.side %d", c.Buffer, c.Pixels.Side)
	}
	if c.Replay.Prioritized() {
		add(16*float64(c.Collected()), "priorities of buffer %d", c.Buffer)
	}
	if c.Generates() {
		g := c.Generator
		rings := 1 + g.Generations()
		if c.Explores() {
			rings += g.Generations() // the explorer's rows
		}
		if c.Roll() > 0 {
			rings += 2 // what D_syn was before it was mixed, and the next mixture
		}
		add(row*float64(rings)*float64(min(s.Samples, c.Buffer)), "samples %d", s.Samples)
		g.Chunk = min(g.Chunk, s.Samples)
		if own := g.Kinds.Of(g.Kind); own != nil {
			add(own.Memory(g.Config, shape.Width()), "%s with generator.batch %d, chunk %d", sizesOf("generator."+g.Kind, own), g.Batch, g.Chunk)
		} else {
			add(g.Memory(shape.Width()), "generator.width %d with blocks %d, embedding %d, batch %d, chunk %d",
				g.Width, g.Blocks, g.Embedding, g.Batch, g.Chunk)
		}
		if c.TrueOutcomes() {
			add(Physics, "generator.outcomes %s", g.Outcomes)
		}
		add(g.Head.Memory(shape.Obs, shape.Act), "generator.head.kind %s with batch %d", g.Head.Kind, g.Head.Batch)
	}
	for _, name := range c.Functions() {
		if settings := c.Relevance.Of(name); settings != nil {
			scored := shape
			if c.Fills() && !c.Sees() && relevance.Observes(settings, c.Sight()) {
				scored = replay.Shape{Obs: task.ObsSize, Act: task.ActSize}
			}
			read := c.logMemory(task, c.Keeps(task, name)) - c.logMemory(task, c.Keeps(task)) // what the log holds for it
			add(c.functionMemory(settings, scored)+read, "%s", sizesOf(name, settings))
		}
	}
	slices.SortStableFunc(all, func(a, b MemoryPart) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}

// FrameCapacity is the most frames that a member keeps. If the learner says how many transitions
// it makes D_real of, it is the frames of their env steps; else as many as buffer says, and at
// least as many of each copy as one row needs.
func (c *Config) FrameCapacity(task task.Task) int {
	copies := c.Environment.InLockstep()
	if kept := c.Traits(task).Makes; kept > 0 {
		steps := (kept + copies - 1) / copies
		return copies * (steps + steps/max(1, task.EpisodeSteps) + 2) // an episode has one more frame than env steps, and begins anywhere
	}
	least := c.Pixels.Stack + 1
	if n := c.Traits(task).NStep; n > 0 {
		least = c.Pixels.Stack + 2*n // so many frames of a new episode give no row yet, and then the one before has to
	}
	return max(c.Buffer, least*copies)
}

// Keeps says what the log of a member's experience holds for the learner and for relevance functions of
// those names; nothing if none of them reads it and no frames are seen. All that a run takes in memory and
// on the disk for what it has observed follows from it.
func (c *Config) Keeps(task task.Task, functions ...string) (k experience.Keep) {
	copies := c.Environment.InLockstep()
	k.Steps = c.Traits(task).Reads
	for _, name := range functions {
		if met, is := c.Relevance.Of(name).(relevance.ConfigOfEpisodes); is {
			k.Steps = max(k.Steps, met.FirstRound(copies))
		}
	}
	if k.Steps > 0 {
		k.Looks = copies * (k.Steps + k.Steps/max(1, task.EpisodeSteps) + 2) // an episode has one more look than env steps, and begins anywhere
	}
	if c.Sees() {
		k.Looks = max(k.Looks, c.FrameCapacity(task))
	}
	return k
}

// FramesSeen is about how many frames a member sees in the whole run: an episode has one more
// frame than env steps.
func (c *Config) FramesSeen(task task.Task) int {
	return c.Steps + c.Steps/max(1, task.EpisodeSteps) + c.Environment.InLockstep()
}

// FramesMemory estimates the memory of the frames that a member keeps.
func (c *Config) FramesMemory(task task.Task) float64 {
	return c.logMemory(task, c.Keeps(task, c.Functions()...))
}

// logMemory estimates the memory of a log that holds so much.
func (c *Config) logMemory(task task.Task, k experience.Keep) float64 {
	const beside = 56 // bytes that are kept with a look
	look, side := 4*float64(task.ObsSize), float64(c.Pixels.Side)
	if c.Sees() {
		look = agent.Colours * side * side
	}
	return float64(min(c.FramesSeen(task), k.Looks)) * (look + 4*float64(task.ActSize) + beside)
}

// functionMemory estimates the memory of a relevance function.
func (c *Config) functionMemory(settings relevance.Config, shape replay.Shape) float64 {
	if met, is := settings.(relevance.ConfigOfEpisodes); is {
		return met.MemoryIn(shape, c.Sight(), c.Environment.InLockstep())
	}
	if seeing, can := settings.(relevance.ConfigOfFrames); can {
		return seeing.MemoryOfFrames(shape, c.Sight())
	}
	return settings.Memory(shape)
}

// Collected is the most transitions that D_real comes to hold in the run: of the environment, and
// of data that it begins with.
func (c *Config) Collected() int { return c.CollectedBy(c.Steps) }

// CollectedBy is the most transitions that D_real can hold after so many steps.
func (c *Config) CollectedBy(step int) int {
	if c.Data.Seeds() {
		step += c.Data.Rows
	}
	rows := min(c.Buffer, step)
	if kept := c.Traits(task.Task{}).Makes; kept > 0 {
		rows = min(rows, kept)
	}
	return rows
}

// learnerMemory estimates the memory of a learner that makes updates on batches of batch rows,
// and is looked at looked rows at a time.
func (c *Config) learnerMemory(task task.Task, batch, looked int) float64 {
	s, d := c.Learner(task)
	if s.Memory == nil {
		return 0
	}
	return s.Memory(d, batch, looked)
}

// sizesOf names the sizes among the settings of a table; the memory of what the table describes
// follows from them.
func sizesOf(name string, settings any) string {
	var sizes []string
	v := reflect.ValueOf(settings)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if name := f.Tag.Get("toml"); name != "-" && f.Type.Kind() == reflect.Int {
			sizes = append(sizes, fmt.Sprintf("%s %d", name, v.Field(i).Int()))
		}
	}
	if len(sizes) == 0 {
		return name
	}
	return name + "." + strings.Join(sizes, ", ")
}

// FitsInto returns an error if a run would take more than the machine has. It says in one line
// what the run would take, and which settings make it so.
func (c *Config) FitsInto(m Machine, task task.Task) error {
	need, parts := 0.0, c.Memory(task)
	for _, p := range parts {
		need += p.Bytes
	}
	if address := reserved + 2*need; m.Address > 0 && address > m.Address {
		return fmt.Errorf("configuration: needs about %s of address space, ulimit -v allows %s: raise it to %.0f or more, or choose smaller settings, first of all %s",
			bytesText(address), bytesText(m.Address), address/1024, parts[0].Settings)
	}
	if m.Memory <= 0 || need <= m.Memory {
		return nil
	}
	return fmt.Errorf("configuration: needs about %s of memory, %s: %s of it for %s: choose smaller ones",
		bytesText(need), m, bytesText(parts[0].Bytes), parts[0].Settings)
}

// bytesText writes a number of bytes for people.
func bytesText(bytes float64) string {
	units := strings.Fields("bytes KiB MiB GiB TiB PiB EiB")
	n := 0
	for ; bytes >= 1024 && n < len(units)-1; n++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.4g %s", bytes, units[n])
}

// savingBeside is what the sections of a checkpoint may take in addition to the parts of a run,
// in bytes: counters, environments, half of an evaluation.
const savingBeside = 256 << 20

// Limit is how much a checkpoint of a run of c can hold: no part is larger on the disk
// than in memory. The knob samples may have any value that Fits allows.
func (c *Config) Limit(task task.Task) run.Limit {
	total, most := float64(savingBeside), *c
	most.Knobs.Samples = c.Buffer
	for _, p := range most.Memory(task) {
		total += p.Bytes
	}
	return run.Limit(min(total, math.MaxInt64/2))
}
