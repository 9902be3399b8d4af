package experience

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Rollout is the env steps that a learner on policy learns from next: those of a log from From on,
// Steps in each copy. Rows are in the order of the env steps, those of one in the order of the copies.
type Rollout struct {
	Log   *Log // nil for a learner that only acts
	Steps int
	From  uint64 // all that there is to save

	rows []Met  // of the full rollout that began at of-1
	of   uint64 // 0: of none
}

// Rows is how many rows a full rollout has.
func (r *Rollout) Rows() int { return r.Steps * r.Log.shape.Copies }

// Filled is how many env steps there are.
func (r *Rollout) Filled() int { return int(r.Log.Steps() - r.From) }

// Full says whether all its env steps were made. A full rollout is to be learned from, then cleared.
func (r *Rollout) Full() bool { return r.Log != nil && r.Filled() == r.Steps }

// Clear begins a new rollout.
func (r *Rollout) Clear() { r.From, r.of = r.Log.Steps(), 0 }

// Row returns a row of a full rollout. It is the rollout's memory, until env steps are added.
func (r *Rollout) Row(i int) *Met {
	if r.of != r.From+1 { // each row is read in every epoch, and found once
		r.rows, r.of = r.rows[:0], r.From+1
		for i := range r.Rows() {
			r.rows = append(r.rows, r.find(i))
		}
	}
	return &r.rows[i]
}

func (r *Rollout) find(i int) Met {
	k := r.Log.shape.Copies
	m, held := r.Log.Met(r.Log.After(r.From+uint64(i/k), i%k))
	if !held {
		panic("experience: a row of a rollout is forgotten")
	}
	if m.End == Continues && r.Log.Cut(m.After) {
		m.End = Truncated
	}
	return m
}

// Fill writes what a full rollout of numbers acted on to obs [Rows,O], and its actions to act [Rows,A].
func (r *Rollout) Fill(obs, act []float32) {
	for i := range r.Rows() {
		row := r.Row(i)
		copy(obs[i*len(row.Seen.Numbers):], row.Seen.Numbers)
		copy(act[i*len(row.Action):], row.Action)
	}
}

// Returns writes the discounted return Σ γᵏ·r of each row of a full rollout to dst [Rows]. The sum
// ends with the episode or with the rollout: without values nothing is known of the rewards after it.
func (r *Rollout) Returns(dst []float32, gamma float64) {
	for i := r.Rows() - 1; i >= 0; i-- {
		row := r.Row(i)
		dst[i] = row.Observed
		if next := i + r.Log.shape.Copies; next < r.Rows() && row.End == Continues {
			dst[i] += float32(gamma * float64(dst[next]))
		}
	}
}

// Standardise subtracts the mean from x and divides it by its standard deviation.
func Standardise(x []float32) {
	mean, square, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		mean += float64(v) / n
	}
	for _, v := range x {
		d := float64(v) - mean
		square += float64(d*d) / n
	}
	deviation := math.Sqrt(square) + 1e-8
	for i, v := range x {
		x[i] = float32((float64(v) - mean) / deviation)
	}
}

// Save writes where the rollout begins.
func (r *Rollout) Save(w io.Writer) error {
	if err := binary.Write(w, binary.LittleEndian, r.From); err != nil {
		return fmt.Errorf("save rollout: %w", err)
	}
	return nil
}

// Load reads what Save wrote, and no byte beyond. The log is loaded before.
func (r *Rollout) Load(in io.Reader) error {
	if err := binary.Read(in, binary.LittleEndian, &r.From); err != nil {
		return fmt.Errorf("load rollout: %w", err)
	}
	return r.Begun(r.From)
}

// Begun makes the rollout begin after the first from env steps. It is an error if the log has not
// so many, or if they are more than the rollout takes ago.
func (r *Rollout) Begun(from uint64) error {
	if r.From = from; r.Log != nil && (r.From > r.Log.Steps() || r.Filled() > r.Steps || !r.Log.Holds(r.From)) {
		return fmt.Errorf("a rollout of %d env steps begins after %d of %d", r.Steps, r.From, r.Log.Steps())
	}
	return nil
}

// Places is as in Log: the place of the frame that a row acted on is the row.
func (r *Rollout) Places() (held, most int) { return r.Rows(), r.Rows() }

// Copy is as in Log, for a full rollout.
func (r *Rollout) Copy(c *Copied, put func(place int, frames []byte) error) error {
	if c.Follows(r, r.From) {
		return nil
	}
	for i := range r.Rows() {
		if err := put(i, r.Row(i).Seen.Frame); err != nil {
			*c = Copied{}
			return err
		}
	}
	return nil
}
