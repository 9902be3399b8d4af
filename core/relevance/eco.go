package relevance

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/replay"
	"pgrlab/core/window"
)

// ECOConfig describes episodic curiosity: its R-network, the memory of an episode, and the
// rounds in which the network learns.
type ECOConfig struct {
	Embedding  string  `toml:"embedding"`  // of frames: "small", as is the empty one, or "resnet18"
	Channels   []int   `toml:"channels"`   // of its convolutions or stages; none: its own
	Hidden     []int   `toml:"hidden"`     // widths of the embedding's hidden layers, of numbers
	Features   int     `toml:"features"`   // width of an embedding
	Comparator []int   `toml:"comparator"` // widths of the comparator's layers before its two logits
	Entries    int     `toml:"entries"`    // observations of an episode that are remembered, the most
	Alpha      float64 `toml:"alpha"`      // of F
	Beta       float64 `toml:"beta"`       // of F
	Percentile float64 `toml:"percentile"` // of the similarities to the memory
	Near       int     `toml:"near"`       // actions between the observations of a close pair, the most
	Far        int     `toml:"far"`        // actions between those of a distant pair are more
	History    int     `toml:"history"`    // transitions, of all copies, that a round learns from; there is one as often
	Epochs     int     `toml:"epochs"`     // of a round
	Batch      int     `toml:"batch"`      // pairs of an update
	LR         float64 `toml:"lr"`         // of Adam(0.9, 0.999)
	Momentum   float64 `toml:"momentum"`   // of the running statistics of the batch norms
}

var _ = register(Spec{
	Name: "eco", Doc: "episodic curiosity, where a learner meets episodes: how far what is reached is from what the episode has met", Equation: "α(β − P90 of C(E(s′), E(mᵢ)))",
	Source:   "Wang et al. 2025, appendix on mazes; Savinov et al. 2019",
	Learning: LearnsInRounds,
	Config:   DefaultECO(),
	New: func(d Deps) (Function, error) {
		return NewECO(d.Config.(ECOConfig), d.Met, d.Frames, d.Copies, d.Device, d.Seed)
	},
})

// DefaultECO is google-research/episodic-curiosity's with smaller networks and a shorter history.
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

// ECO is episodic curiosity (Savinov et al. 2019; google-research/episodic-curiosity): an
// embedding E and a comparator C, together the R-network, which says how likely it is that two
// observations are few actions apart, and for each copy of the environment a memory of
// observations of its episode. F of a transition is
//
//	α(β − P90 over the memory of C(E(s′), E(mᵢ))),
//
// 0 before the network has learned anything, and of an episode's last transition. s′ joins the
// memory where F is above 0, in the place of any one where it is full; the memory is cleared
// at an episode's end, and begins with the next one's first observation.
//
// Where the learner sees frames these are compared, each as bytes until E is given it.
//
// The network learns in rounds, each as soon as the history of what was met is new as a whole:
// from pairs of observations of an episode, those at most Near actions apart being close, those
// more than Far distant. What the memories hold is embedded anew behind a round. An ECO belongs
// to one goroutine.
type ECO struct {
	config   ECOConfig
	width    int          // of an observation, of numbers or a frame's bytes
	tone     *window.Tone // that bytes become
	copies   int
	device   device.Device
	net      *ecoNet
	programs ecoPrograms
	streams  ecoStreams

	history  history
	memories memories
	pairs    pairs
	rounds   uint64  // that were made
	accuracy float64 // of the last one; NaN before the first
	met      Familiarity
}

// Familiarity is what an env step told, means over the copies.
type Familiarity struct {
	Entries  float64 // of a memory, before what was reached joined it
	P90      float64 // NaN before the first round
	Accuracy float64 // of the R-network's choice on the pairs that the last round left out; NaN before the first
}

// NewECO samples the weights and compiles the programs, for observations of shape.Obs numbers,
// or for frames where there are some, in so many copies of the environment.
func NewECO(c ECOConfig, shape replay.Shape, f Frames, copies int, dev device.Device, seed uint64) (*ECO, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.ValidateFrames(f); err != nil {
		return nil, err
	}
	if copies < 1 || shape.Obs < 1 {
		return nil, errors.New("eco: it needs env steps of an environment's copies")
	}
	if c.History/copies < 1 {
		return nil, fmt.Errorf("eco: history is %d, want at least a transition of each of %d copies", c.History, copies)
	}
	s, steps := newECOStreams(seed), c.History/copies
	m := &ECO{
		config: c, tone: c.tone(), copies: copies, device: dev, net: newECONet(c, shape.Obs, f, s.weights), streams: s,
		history: newHistory(steps, copies, newShelf(steps*copies, shape.Obs, f)), memories: newMemories(c, copies, newShelf(copies*c.Entries, shape.Obs, f)),
		accuracy: math.NaN(),
	}
	m.width, m.programs.rows = m.history.seen.width, c.embedded(f, copies)
	m.met = Familiarity{P90: math.NaN(), Accuracy: math.NaN()}
	if err := m.compile(); err != nil {
		m.Close()
		return nil, fmt.Errorf("eco: %w", err)
	}
	return m, nil
}

// Name is "eco".
func (*ECO) Name() string { return "eco" }

// Score writes what the notes of rows transitions have: what was told when they were met, by the
// network and the memory of that time.
func (m *ECO) Score(dst []float32, b *replay.Batch, rows int) error {
	if !Tells(m, b, rows) {
		return fmt.Errorf("relevance eco: %w", ErrUnmet)
	}
	for i, n := range b.Notes[:rows] {
		dst[i] = n.F
	}
	return nil
}

// Learned says whether the network has learned anything.
func (m *ECO) Learned() bool { return m.programs.optimiser.T > 0 }

// Familiarity is what the last env step told.
func (m *ECO) Familiarity() Familiarity { return m.met }

// Close releases the compiled programs.
func (m *ECO) Close() error { return m.programs.close() }
