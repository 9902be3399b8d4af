package relevance

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/window"
)

// ECOConfig describes episodic curiosity: its R-network, the memory of an episode, and the
// rounds in which the network learns.
type ECOConfig struct {
	Embedding  string  `toml:"embedding"`  // for frames: "small" (also if empty) or "resnet18"
	Channels   []int   `toml:"-"`          // of the embedding's convolutions or stages; none: its defaults
	Hidden     []int   `toml:"-"`          // widths of the embedding's hidden layers, for numbers
	Features   int     `toml:"features"`   // width of an embedding
	Comparator []int   `toml:"comparator"` // widths of the comparator's layers before its two logits
	Entries    int     `toml:"-"`          // most observations of an episode that are remembered
	Alpha      float64 `toml:"-"`          // of F
	Beta       float64 `toml:"-"`          // of F
	Percentile float64 `toml:"-"`          // of the similarities to the memory
	Near       int     `toml:"-"`          // most actions between the observations of a close pair
	Far        int     `toml:"-"`          // observations of a distant pair are more than so many actions apart
	History    int     `toml:"history"`    // transitions, of all copies, that a round learns from; each round waits for as many new ones
	Epochs     int     `toml:"epochs"`     // of a round
	Batch      int     `toml:"batch"`      // pairs of an update
	LR         float64 `toml:"lr"`         // of Adam(0.9, 0.999)
	Momentum   float64 `toml:"-"`          // of the running statistics of the batch norms
}

var _ = register(Spec{
	Name: "eco", Doc: "episodic curiosity, for learners that meet episodes: how far the observation reached is from those that the episode has met", Equation: "α(β − P90 of C(E(s′), E(mᵢ)))",
	Source:   "Wang et al. 2025, appendix on mazes; Savinov et al. 2019",
	Learning: LearnsInRounds,
	Config:   DefaultECO(),
	New: func(d Deps) (Function, error) {
		return NewECO(d.Config.(ECOConfig), d.Met, d.Frames, d.Copies, d.Log, d.Device, d.Seed)
	},
})

// DefaultECO is the configuration of google-research/episodic-curiosity with smaller networks and a
// shorter history. Hidden is our choice; Entries, Alpha and Beta are the paper's (appendix on mazes), Momentum is that of
// BatchNorm1d in PyTorch.
func DefaultECO() ECOConfig {
	return ECOConfig{
		Embedding: EmbeddingSmall,
		Hidden:    []int{128, 128}, Features: 64, Comparator: []int{64, 64}, Entries: 200, Alpha: 0.03, Beta: 0.5, Percentile: 0.9,
		Near: 5, Far: 25, History: 120_000, Epochs: 3, Batch: 256, LR: 1e-3, Momentum: 0.1,
	}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c ECOConfig) Validate() error {
	for _, widths := range [][]int{c.Hidden, c.Comparator} {
		if len(widths) < 1 || len(widths) > 16 {
			return fmt.Errorf("eco: hidden is %v and comparator %v, want 1 to 16 layers each", c.Hidden, c.Comparator)
		}
		for _, width := range widths {
			if width < 1 {
				return fmt.Errorf("eco: hidden is %v and comparator %v, want widths of at least 1", c.Hidden, c.Comparator)
			}
		}
	}
	if err := c.validateEmbedding(); err != nil {
		return err
	}
	switch {
	case c.Features < 1:
		return fmt.Errorf("eco: features is %d, want at least 1", c.Features)
	case c.Entries < 1 || c.Entries > 1<<16:
		return fmt.Errorf("eco: entries is %d, want 1 to %d observations", c.Entries, 1<<16)
	case !(c.Alpha > 0) || math.IsInf(c.Alpha, 0) || !(c.Beta >= 0 && c.Beta <= 1):
		return fmt.Errorf("eco: alpha is %g and beta %g, want a positive number and one from 0 to 1", c.Alpha, c.Beta)
	case !(c.Percentile >= 0 && c.Percentile <= 1):
		return fmt.Errorf("eco: percentile is %g, want a share from 0 to 1", c.Percentile)
	case c.Near < 1 || c.Far < c.Near || c.Far > 1<<20:
		return fmt.Errorf("eco: near is %d and far %d, want at least 1 action, and more actions between distant observations than between close ones", c.Near, c.Far)
	case c.History < 1 || c.History > 1<<28:
		return fmt.Errorf("eco: history is %d, want 1 to %d transitions", c.History, 1<<28)
	case c.Epochs < 1 || c.Epochs > 1000:
		return fmt.Errorf("eco: epochs is %d, want 1 to 1000", c.Epochs)
	case c.Batch < 2 || c.Batch > 1<<20:
		return fmt.Errorf("eco: batch is %d, want 2 to %d pairs: a batch norm needs a variance", c.Batch, 1<<20)
	case !(c.LR > 0) || !(c.Momentum > 0 && c.Momentum <= 1):
		return fmt.Errorf("eco: lr is %g and momentum %g, want a positive rate and a momentum in (0,1]", c.LR, c.Momentum)
	}
	return nil
}

// ValidateCopies refuses a history in which no two observations of one of so many copies are
// distant.
func (c ECOConfig) ValidateCopies(copies int) error {
	if least := copies * (c.Far + 2); c.History < least {
		return fmt.Errorf("eco: history is %d, %d transitions of each of %d copies, but distant observations are more than %d actions apart (far): want at least %d", c.History, c.FirstRound(copies), copies, c.Far, least)
	}
	return nil
}

// FirstRound is the number of env steps of so many copies after which the network first learns, and
// then between two rounds.
func (c ECOConfig) FirstRound(copies int) int { return c.History / copies }

// Trial returns settings with rounds of a few batches, in which every observation has distant ones: a
// round is then in proportion to its history. A pair begins 2 to Near + 1 transitions after the one
// before (see walk).
func (c ECOConfig) Trial(copies, envSteps int) Config {
	const batches = 3.2
	transitions := batches / (1 - heldOut) * float64(c.Batch) * float64(3+c.Near) / 2
	least := max(2*(c.Far+1), int(transitions)/copies+1)
	if n := copies * envSteps * ((least + envSteps - 1) / envSteps); n < c.History {
		c.History = n
	}
	return c
}

// ECO is episodic curiosity (Savinov et al. 2019; google-research/episodic-curiosity). Its
// R-network, an embedding E and a comparator C, says how likely it is that two observations are few
// actions apart. For each copy of the environment it has a memory of observations of the present
// episode. F of a transition is
//
//	α(β − P90 over the memory of C(E(s′), E(mᵢ))),
//
// but 0 before the network has learned anything, and 0 for an episode's last transition. s′ joins
// the memory if F is above 0; in a full memory it replaces a random entry. The memory is cleared at
// an episode's end, and begins with the first observation of the next episode.
//
// If the learner sees frames, these are compared. Observations are in the log of experience: the history
// is its newest env steps, and what is remembered is pinned there.
//
// The network learns in rounds, each as soon as the whole history of met transitions has been
// renewed. It learns from pairs of observations of one episode: those at most Near actions apart
// are close, those more than Far apart are distant. After a round the entries of the memories are
// embedded again. An ECO belongs to one goroutine.
type ECO struct {
	config   ECOConfig
	width    int          // of an observation: its numbers, or a frame's bytes
	tone     *window.Tone // that maps bytes to numbers
	copies   int
	device   device.Device
	net      *ecoNet
	programs ecoPrograms
	streams  ecoStreams

	history  history
	memories memories
	pairs    pairs
	rounds   uint64  // that have ended
	accuracy float64 // of the last round; NaN before the first
	met      Familiarity
}

// Familiarity is what an env step measured, as means over the copies.
type Familiarity struct {
	Entries  float64 // of a memory, before the observation that was reached joined it
	P90      float64 // NaN before the first round
	Accuracy float64 // of the R-network on the pairs that the last round held back; NaN before the first
}

// NewECO samples the weights and compiles the programs, for observations of shape.Obs numbers, or
// for frames if f is not zero, in that many copies of the environment. The log has to hold FirstRound env
// steps.
func NewECO(c ECOConfig, shape replay.Shape, f Frames, copies int, log *experience.Log, dev device.Device, seed uint64) (*ECO, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.ValidateFrames(f); err != nil {
		return nil, err
	}
	if copies < 1 || shape.Obs < 1 || log == nil {
		return nil, errors.New("eco: it needs env steps of an environment's copies")
	}
	if err := c.ValidateCopies(copies); err != nil {
		return nil, err
	}
	s := newECOStreams(seed)
	m := &ECO{
		config: c, tone: c.tone(), copies: copies, device: dev, net: newECONet(c, shape.Obs, f, s.weights), streams: s,
		history: newHistory(log, c.FirstRound(copies), copies), memories: newMemories(c, copies, log),
		accuracy: math.NaN(),
	}
	if m.width = shape.Obs; f.Side > 0 {
		m.width = f.size()
	}
	m.programs.rows = c.embedded(f, copies)
	m.met = Familiarity{P90: math.NaN(), Accuracy: math.NaN()}
	if err := m.compile(); err != nil {
		m.Close()
		return nil, fmt.Errorf("eco: %w", err)
	}
	return m, nil
}

// Name is "eco".
func (*ECO) Name() string { return "eco" }

// Score writes F from the notes of rows transitions. It was computed when they were met, with the
// network and the memory of that time; it is NaN if the network had not learned by then.
func (m *ECO) Score(dst []float32, b *replay.Batch, rows int) error {
	if !allMet(b, rows) {
		return fmt.Errorf("relevance eco: %w", ErrUnmet)
	}
	for i, n := range b.Notes[:rows] {
		dst[i] = n.F
	}
	return nil
}

// Learned reports whether the network has learned anything.
func (m *ECO) Learned() bool { return m.programs.optimiser.T > 0 }

// Forget ends the episode of a copy, if it is not over yet.
func (m *ECO) Forget(copied int) {
	m.memories.forget(copied)
	m.memories.joined[copied] = -1
}

// Familiarity is what the last env step measured.
func (m *ECO) Familiarity() Familiarity { return m.met }

// Close releases the compiled programs.
func (m *ECO) Close() error { return m.programs.close() }
