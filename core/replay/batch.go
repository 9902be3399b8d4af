package replay

import (
	"fmt"
	"math"
	"runtime"

	"pgrlab/core/rng"
)

// Batch is memory of the caller for Size transitions, as the columns of rows: Obs and Next
// [Size,O], Act [Size,A], Reward and Done [Size,1], all row-major. It is usually the memory of
// compiled programs' inputs.
type Batch struct {
	Size                         int
	Obs, Act, Reward, Next, Done []float32
	// Weight [Size,1] is the weight of each transition in the critics' loss; nil if all weigh the
	// same.
	Weight []float32
	// Notes [Size] are the notes of the rows; nil if the rings that they came from keep none.
	Notes []Note
	// Ages [Size] is how many rows were added to the ring since; nil if they are not asked for. They
	// are 0 for rings without ages, such as those of generated rows. They are for batches without Share.
	Ages []float32
	// Share returns a function that does the parts of some work concurrently and waits for all of
	// them; nil: the caller copies its rows alone. It is set by the owner of the memory, which has
	// the cores.
	Share func(work func(part, parts int)) func()
	// Frames [Size] are the frames that the transitions were made from (see Ring.See); nil if they
	// are not asked for. Unseen says why some transitions have none. Both are for batches without
	// Share.
	Frames []FrameRow
	Unseen error

	sampling sampling
}

// sampling is what a batch is filled with.
type sampling struct {
	rings [2]*Ring // real, synthetic
	mix   Mix
	rows  []int  // slots in their rings, the real ones first
	fill  func() // made by Share
}

// reserve makes room for n rows to pick.
func (s *sampling) reserve(n int) {
	if cap(s.rows) < n {
		s.rows = make([]int, n)
	}
	s.rows = s.rows[:n]
}

// NewBatch returns a batch with memory of its own.
func NewBatch(shape Shape, size int) *Batch {
	return &Batch{
		Size: size, Obs: make([]float32, size*shape.Obs), Act: make([]float32, size*shape.Act),
		Reward: make([]float32, size), Next: make([]float32, size*shape.Obs), Done: make([]float32, size),
	}
}

// Set writes t as transition i of the batch.
func (b *Batch) Set(i int, t Transition) {
	o, a := len(t.Obs), len(t.Act)
	copy(b.Obs[i*o:(i+1)*o], t.Obs)
	copy(b.Act[i*a:(i+1)*a], t.Act)
	copy(b.Next[i*o:(i+1)*o], t.Next)
	if b.Reward[i], b.Done[i] = t.Reward, 0; t.Done {
		b.Done[i] = 1
	}
	if b.Notes != nil {
		b.Notes[i] = t.Note
	}
}

// Put writes one row [s, a, r, s', d] as transition i of the batch.
func (b *Batch) Put(i int, shape Shape, row []float32) {
	o, a := shape.Obs, shape.Act
	copy(b.Obs[i*o:(i+1)*o], row)
	copy(b.Act[i*a:(i+1)*a], row[o:])
	b.Reward[i] = row[o+a]
	copy(b.Next[i*o:(i+1)*o], row[o+a+1:])
	b.Done[i] = row[2*o+a+1]
}

// Gather writes rows of the ring to the batch, one after the other, from transition at on.
func (r *Ring) Gather(b *Batch, at int, rows []int) {
	r.annotate(b)
	for len(rows) > 0 {
		some := rows[:min(ahead, len(rows))]
		r.touch(some)
		for i, row := range some {
			b.Put(at+i, r.shape, r.Row(row))
			if b.Notes != nil {
				b.Notes[at+i] = r.Note(row)
			}
			if b.Frames != nil {
				r.look(b, at+i, row)
			}
			r.age(b, at+i, row)
		}
		at, rows = at+len(some), rows[len(some):]
	}
}

// ahead is how many rows are fetched from memory at once.
const ahead = 16

// touch reads one number of every cache line of some rows, so that they are fetched from memory
// together and not row by row. A large buffer is in no cache, and copying its rows without touch
// takes twice as long.
func (r *Ring) touch(rows []int) {
	const line = 16
	var sum float32
	for _, i := range rows {
		row := r.Row(i)
		for at := 0; at < len(row); at += line {
			sum += row[at]
		}
	}
	runtime.KeepAlive(sum)
}

// Mix is how many transitions of a batch are real and how many synthetic.
type Mix struct{ Real, Synthetic int }

// Size is the batch's size.
func (m Mix) Size() int { return m.Real + m.Synthetic }

// HoldBatch mixes a batch of the given size by the synthetic ratio r:
// int(size·r) synthetic rows, or none while fewer than that are available
// (renwang435/pgr: synther/online/redq_rlpd_agent.py).
func HoldBatch(size int, r float64, available int) Mix {
	synthetic := int(float64(size) * r)
	if available < synthetic {
		synthetic = 0
	}
	return Mix{Real: size - synthetic, Synthetic: synthetic}
}

// HoldReal keeps the number of real rows that a batch of size has at r = 0.5 and lets the batch
// grow with r, as the paper's scaling does: 0.5/256, 0.75/512, 0.875/1024. While too few synthetic
// rows are available, the batch has real rows only. No buffer is large enough for r = 1, so its
// batches always have real rows only.
func HoldReal(size int, r float64, available int) Mix {
	real := size - size/2
	synthetic := math.Round(float64(real) * r / (1 - r))
	if !(synthetic <= float64(available)) { // infinite for r = 1
		return Mix{Real: size}
	}
	return Mix{Real: real, Synthetic: int(synthetic)}
}

// Mixer samples batches, uniformly and with replacement. Which rows a batch gets
// is a function of its occasion and of the rings' lengths.
type Mixer struct {
	real, synthetic rng.Stream
	led             bool // real rows whose note says Respawned are drawn again
}

// NewMixer returns a mixer that draws its samples from a stream.
func NewMixer(s rng.Stream) Mixer {
	return Mixer{real: s.Sub("real"), synthetic: s.Sub("synthetic")}
}

// WithoutRespawns returns m that draws another row in place of a real one whose note says
// Respawned. It is for models that learn what actions lead to.
func (m Mixer) WithoutRespawns() Mixer {
	m.led = true
	return m
}

// Streams are the streams of real and of synthetic rows. Rows are sampled item by item of the
// occasion, with rng.Sequence.IntN.
func (m Mixer) Streams() [2]rng.Stream { return [2]rng.Stream{m.real, m.synthetic} }

// Sample fills a batch: its real rows first, then the synthetic ones. It does not
// allocate once it has filled that batch.
func (m Mixer) Sample(b *Batch, mix Mix, real, synthetic *Ring, occasion uint64) error {
	if mix.Size() != b.Size || mix.Real < 0 || mix.Synthetic < 0 {
		return fmt.Errorf("sample a batch: %d + %d rows for a batch of %d", mix.Real, mix.Synthetic, b.Size)
	}
	d := &b.sampling
	d.reserve(b.Size)
	d.mix, d.rings = mix, [2]*Ring{real, synthetic}
	if real == nil {
		real = noRows
	}
	if synthetic == nil {
		synthetic = noRows
	}
	if err := pick(d.rows[:mix.Real], real, m.real, occasion, m.led); err != nil {
		return err
	}
	if err := pick(d.rows[mix.Real:], synthetic, m.synthetic, occasion, false); err != nil {
		return err
	}
	for _, from := range d.rings { // before the parts are filled concurrently
		if from != nil {
			from.annotate(b)
		}
	}
	b.fill()
	return nil
}

var noRows = &Ring{}

// Rows are transitions by slots.
type Rows interface {
	Len() int
	Note(slot int) Note
	// Gather writes rows to a batch, one after the other, from transition at on.
	Gather(b *Batch, at int, slots []int)
}

// SampleFrom fills a batch with real rows: those that Sample takes of a ring with as many rows and the
// same notes. It does not allocate once it has filled that batch.
func (m Mixer) SampleFrom(b *Batch, real Rows, occasion uint64) error {
	if ring, is := real.(*Ring); is { // whose rows are copied in parts
		return m.Sample(b, Mix{Real: b.Size}, ring, nil, occasion)
	}
	d := &b.sampling
	d.reserve(b.Size)
	if err := pick(d.rows, real, m.real, occasion, m.led); err != nil {
		return err
	}
	real.Gather(b, 0, d.rows)
	return nil
}

// mostDraws is how often a row is drawn for a place if respawns are not wanted. In a buffer that
// holds nothing else, the last respawn drawn is used.
const mostDraws = 64

// pick samples rows of a ring; led: without respawns.
func pick[R Rows](rows []int, from R, s rng.Stream, occasion uint64, led bool) error {
	if len(rows) == 0 {
		return nil
	}
	if from.Len() == 0 {
		return fmt.Errorf("sample a batch: %d rows from an empty buffer", len(rows))
	}
	q := s.At(occasion)
	for i := range rows {
		rows[i] = q.IntN(from.Len())
		for n := 1; led && n < mostDraws && from.Note(rows[i]).Respawned; n++ {
			rows[i] = q.IntN(from.Len())
		}
	}
	return nil
}

// minShared is the least number of rows whose copying is shared: copying fewer takes no longer than
// getting help.
const minShared = 64

// fill copies the rows that were picked.
func (b *Batch) fill() {
	switch {
	case b.Share == nil || b.Size < minShared:
		b.fillPart(0, 1)
		return
	case b.sampling.fill == nil:
		b.sampling.fill = b.Share(b.fillPart)
	}
	b.sampling.fill()
}

// fillPart copies the rows of one part of the batch.
func (b *Batch) fillPart(part, parts int) {
	d := &b.sampling
	lo, hi := b.Size*part/parts, b.Size*(part+1)/parts
	if end := min(hi, d.mix.Real); lo < end {
		d.rings[0].Gather(b, lo, d.rows[lo:end])
	}
	if start := max(lo, d.mix.Real); start < hi {
		d.rings[1].Gather(b, start, d.rows[start:hi])
	}
}
