package experience

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
	return m
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
