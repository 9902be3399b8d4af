package dreamer

import (
	"fmt"
	"math"

	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// memory is what sequences are drawn from: the run's log, and the latents in which its looks were last seen
// (embodied/core/replay.py).
type memory struct {
	experience.Sequences
	latents []latents // of each copy
	fresh   []uint64  // of each copy, how many sequences of new looks were learned from
	read    *experience.Sequence
}

func newMemory(c Config, log *experience.Log, s rng.Stream) *memory {
	from := experience.Sequences{Log: log, Stream: s}
	if log != nil {
		from.Looks = log.Kept().Looks // what it holds for the learner, also if it came to hold more
	}
	r := &memory{Sequences: from, fresh: make([]uint64, c.Copies), read: experience.NewSequence(c.Length + 1)}
	for range c.Copies {
		r.latents = append(r.latents, latents{deter: c.Deter, groups: c.Stoch, classes: c.Classes})
	}
	return r
}

// draw writes sequence number row of an update's batch to r.read. Each look is learned from once in a sequence
// of looks that are all new, as soon as there are as many; all other sequences are drawn uniformly. fresh, as
// r.fresh, is counted on.
func (r *memory) draw(fresh []uint64, update uint64, row int) error {
	looks := uint64(len(r.read.Looks))
	for i, n := range fresh {
		from := experience.Ref{Copy: int32(i), Number: n * looks}
		if r.Log.Last(i).Number < from.Number+looks-1 || r.Sequences.Read(r.read, from) != nil {
			continue
		}
		fresh[i]++
		return nil
	}
	return r.Sequences.Draw(r.read, update, row)
}

// latents are those of a copy's looks, by their numbers. The deterministic part, whose numbers are within
// [-1,1], has 16 bits a number: upstream computes it with the eight of bfloat16.
type latents struct {
	deter, groups, classes int

	first  uint64 // number of the oldest look that there is memory for; a multiple of chunkLooks
	chunks []chunk
}

// chunk is the memory of some looks in a row.
type chunk struct {
	deter []int16 // [chunkLooks,D]
	class []uint8 // [chunkLooks,Stoch], one more than the class that was drawn; 0: there is no latent
}

const chunkLooks = 1 << 10

// put stores the latent of a look, and forgets those of looks before oldest.
func (l *latents) put(look, oldest uint64, deter, stoch []float32) {
	for l.first+chunkLooks <= oldest && len(l.chunks) > 0 {
		l.first, l.chunks = l.first+chunkLooks, l.chunks[1:]
	}
	if len(l.chunks) == 0 {
		l.first = look / chunkLooks * chunkLooks
	}
	if look < l.first {
		return
	}
	for look >= l.first+uint64(len(l.chunks))*chunkLooks {
		l.chunks = append(l.chunks, chunk{make([]int16, chunkLooks*l.deter), make([]uint8, chunkLooks*l.groups)})
	}
	into, class := l.at(look)
	for i, v := range deter {
		into[i] = int16(math.RoundToEven(float64(v) * math.MaxInt16))
	}
	for g := range class {
		for k := range l.classes {
			if stoch[g*l.classes+k] == 1 {
				class[g] = uint8(k + 1)
			}
		}
	}
}

// at is the memory of a look.
func (l *latents) at(look uint64) (deter []int16, class []uint8) {
	in, at := &l.chunks[(look-l.first)/chunkLooks], int(look%chunkLooks)
	return in.deter[at*l.deter:][:l.deter], in.class[at*l.groups:][:l.groups]
}

// get writes the latent of a look, zeros if there is none.
func (l *latents) get(look uint64, deter, stoch []float32) {
	clear(deter)
	clear(stoch)
	if look < l.first || look >= l.first+uint64(len(l.chunks))*chunkLooks {
		return
	}
	from, class := l.at(look)
	for i, v := range from {
		deter[i] = float32(v) / math.MaxInt16
	}
	for g, k := range class {
		if k > 0 {
			stoch[g*l.classes+int(k)-1] = 1
		}
	}
}

// batch is what an update learns from and computes. Rows are [time, sequence]: number t·N+n.
type batch struct {
	refs                      []experience.Ref // [N], of the first look that is learned from
	obs, action               []float32        // [R,O] after symlog, nothing if frames are seen; [R,A], that led there
	frames                    [][]byte         // [R], the log's memory; nil if none are seen
	reward, continues         []float32        // [R]
	first, last, terminal     []bool           // [R]
	deter, stoch, logits      []float32        // [N·(1+T),D], [·,Z], [R,Z]: those of the look before the first one come first
	tokens, embedded          []float32        // [R,U], [R,H]
	ofDeter, ofStoch, ofLogit []float32        // gradients, [R,D], [R,Z], [R,Z]
	ofTokens, ofEmbedded      []float32        // the same, [R,U], [R,H]

	imagined []imagined // [Imagine+1]
	ret      []float32  // [Imagine·R], imagined returns
	sorted   []float32  // the same numbers
	replayed []float32  // [R], returns along the replayed looks

	noise, chosen []float32 // [R,O], [R]: of the observations; nil without noise
}

// imagined is an env step of what is imagined from the rows of a batch; the latents of the first one are the
// batch's.
type imagined struct {
	deter, stoch, action           []float32 // [R,D], [R,Z], [R,A] as drawn
	reward, continues, value, slow []float32 // [R]
	weight                         []float32 // [R], probability that the episode has gone on until here
}

func newBatch(c Config) *batch {
	n, r, d, z := c.Sequences, c.rows(), c.Deter, c.groups()
	numbers := func(width int) []float32 { return make([]float32, width) }
	b := &batch{
		refs: make([]experience.Ref, n), action: numbers(r * c.Shape.Act), reward: numbers(r), continues: numbers(r),
		first: make([]bool, r), last: make([]bool, r), terminal: make([]bool, r),
		deter: numbers((r + n) * d), stoch: numbers((r + n) * z), logits: numbers(r * z), tokens: numbers(r * c.tokens()), embedded: numbers(r * c.Hidden),
		ofDeter: numbers(r * d), ofStoch: numbers(r * z), ofLogit: numbers(r * z), ofTokens: numbers(r * c.tokens()), ofEmbedded: numbers(r * c.Hidden),
		ret: numbers(c.Imagine * r), sorted: numbers(c.Imagine * r), replayed: numbers(r),
	}
	if c.Side > 0 {
		b.frames = make([][]byte, r)
	} else {
		b.obs = numbers(r * c.Shape.Obs)
	}
	if c.NoiseShare > 0 {
		b.noise, b.chosen = numbers(r*c.Shape.Obs), numbers(r)
	}
	for i := range c.Imagine + 1 {
		s := imagined{action: numbers(r * c.Shape.Act), reward: numbers(r), continues: numbers(r), value: numbers(r), slow: numbers(r), weight: numbers(r)}
		if s.deter, s.stoch = b.deter[n*d:], b.stoch[n*z:]; i > 0 {
			s.deter, s.stoch = numbers(r*d), numbers(r*z)
		}
		b.imagined = append(b.imagined, s)
	}
	return b
}

// fill draws the batch of an update.
func (b *batch) fill(x *Agent, fresh []uint64) error {
	c, r := x.config, x.memory
	o, a, n := c.Shape.Obs, c.Shape.Act, c.Sequences
	for row := range n {
		if err := r.draw(fresh, x.updates, row); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		s := r.read
		b.refs[row] = experience.Ref{Copy: s.From.Copy, Number: s.From.Number + 1}
		r.latents[s.From.Copy].get(s.From.Number, b.deter[row*c.Deter:][:c.Deter], b.stoch[row*c.groups():][:c.groups()])
		for t := range c.Length {
			at, look := t*n+row, t+1
			if c.Side > 0 {
				b.frames[at] = s.Looks[look].Frame
			} else {
				copy(b.obs[at*o:][:o], s.Looks[look].Numbers)
			}
			clear(b.action[at*a:][:a])
			copy(b.action[at*a:][:a], s.Actions[look])
			next := look+1 < len(s.First) && s.First[look+1]
			b.first[at], b.last[at], b.terminal[at] = s.First[look], s.Ends[look] != experience.Continues || next, s.Ends[look] == experience.Terminated
			b.reward[at], b.continues[at] = s.Rewards[look], 1-1.0/horizon
			if b.terminal[at] {
				b.continues[at] = 0
			}
		}
	}
	if c.NoiseShare > 0 {
		b.disturb(x)
	}
	symlog(b.obs, b.obs)
	return nil
}

// disturb adds normal noise to the observations of a share of the batch's env steps. The noise of an update is
// indexed by the update's number.
func (b *batch) disturb(x *Agent) {
	c, o := x.config, x.config.Shape.Obs
	scale := float32(c.NoiseStd * math.Sqrt(meanVariance(b.obs, o)))
	x.streams.noise.FillNormal(b.noise, x.updates, 0)
	x.streams.noise.Sub("rows").FillUniform(b.chosen, x.updates, 0)
	for row, u := range b.chosen {
		if float64(u) >= c.NoiseShare {
			continue
		}
		for j := row * o; j < (row+1)*o; j++ {
			b.obs[j] += scale * b.noise[j]
		}
	}
}

// meanVariance is the mean over columns of the variance of rows.
func meanVariance(rows []float32, columns int) (mean float64) {
	n := float64(len(rows) / columns)
	for j := range columns {
		sum, squares := 0.0, 0.0
		for i := j; i < len(rows); i += columns {
			sum += float64(rows[i])
		}
		for i := j; i < len(rows); i += columns {
			d := float64(rows[i]) - sum/n
			squares += d * d
		}
		mean += squares / n / float64(columns)
	}
	return mean
}

// keep stores the latents of a batch.
func (b *batch) keep(x *Agent) {
	c, n := x.config, x.config.Sequences
	for row, from := range b.refs {
		l := &x.memory.latents[from.Copy]
		for t := range c.Length {
			at := n + t*n + row
			l.put(from.Number+uint64(t), l.first, b.deter[at*c.Deter:][:c.Deter], b.stoch[at*c.groups():][:c.groups()])
		}
	}
}

// symlog is sign(x)·ln(1+|x|), and symexp its inverse.
func symlog(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Copysign(math.Log1p(math.Abs(float64(v))), float64(v)))
	}
}

func symexp(v float64) float64 { return math.Copysign(math.Expm1(math.Abs(v)), v) }
