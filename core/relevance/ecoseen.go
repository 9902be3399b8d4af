package relevance

import "pgrlab/core/experience"

// before and after are the observations of copy i before and after the env step.
func (s *Met) before(i int) experience.Look { return ofCopy(s.Obs, s.Seen, i, len(s.Ended)) }
func (s *Met) after(i int) experience.Look  { return ofCopy(s.Next, s.NextSeen, i, len(s.Ended)) }

func ofCopy(numbers []float32, frames [][]byte, i, copies int) experience.Look {
	if frames != nil {
		return experience.Look{Frame: frames[i]}
	}
	o := len(numbers) / copies
	return experience.Look{Numbers: numbers[i*o : (i+1)*o]}
}

// show writes an observation in the form that the embedding is given.
func (m *ECO) show(dst []float32, o experience.Look) {
	if o.Frame == nil {
		copy(dst, o.Numbers)
		return
	}
	dst = dst[:len(o.Frame)]
	for i, b := range o.Frame {
		dst[i] = m.tone[b]
	}
}
