package relevance

import (
	"encoding/binary"
	"io"
)

// Observation is what a copy of the environment shows: numbers [O], or the bytes of a frame if
// frames are compared.
type Observation struct {
	Numbers []float32
	Frame   []byte
}

// shelf is an array of observations of one kind, width numbers or bytes each.
type shelf struct {
	width   int
	numbers []float32 // [n,width]; nil: they are frames
	frames  []byte    // [n,width]
}

// newShelf returns a shelf for n observations of that many numbers, or of frames if f is not zero.
func newShelf(n, numbers int, f Frames) shelf {
	if f.Side > 0 {
		return shelf{width: f.size(), frames: make([]byte, n*f.size())}
	}
	return shelf{width: numbers, numbers: make([]float32, n*numbers)}
}

// at returns observation i.
func (s shelf) at(i int) Observation {
	lo, hi := i*s.width, (i+1)*s.width
	if s.numbers == nil {
		return Observation{Frame: s.frames[lo:hi]}
	}
	return Observation{Numbers: s.numbers[lo:hi]}
}

// put copies an observation to place i.
func (s shelf) put(i int, o Observation) {
	to := s.at(i)
	copy(to.Numbers, o.Numbers)
	copy(to.Frame, o.Frame)
}

// part returns the n observations from first on.
func (s shelf) part(first, n int) shelf {
	lo, hi := first*s.width, (first+n)*s.width
	if s.numbers == nil {
		return shelf{width: s.width, frames: s.frames[lo:hi]}
	}
	return shelf{width: s.width, numbers: s.numbers[lo:hi]}
}

// save writes the observations, frames as they are.
func (s shelf) save(w io.Writer) error {
	if s.numbers == nil {
		_, err := w.Write(s.frames)
		return err
	}
	return binary.Write(w, binary.LittleEndian, s.numbers)
}

// load reads what save wrote.
func (s shelf) load(r io.Reader) error {
	if s.numbers == nil {
		_, err := io.ReadFull(r, s.frames)
		return err
	}
	return readAll(r, s.numbers)
}

// before and behind are the observations of copy i before and after the env step.
func (s *Met) before(i int) Observation { return ofCopy(s.Obs, s.Seen, i, len(s.Ended)) }
func (s *Met) behind(i int) Observation { return ofCopy(s.Next, s.NextSeen, i, len(s.Ended)) }

func ofCopy(numbers []float32, frames [][]byte, i, copies int) Observation {
	if frames != nil {
		return Observation{Frame: frames[i]}
	}
	o := len(numbers) / copies
	return Observation{Numbers: numbers[i*o : (i+1)*o]}
}

// show writes an observation in the form that the embedding is given.
func (m *ECO) show(dst []float32, o Observation) {
	if o.Frame == nil {
		copy(dst, o.Numbers)
		return
	}
	dst = dst[:len(o.Frame)]
	for i, b := range o.Frame {
		dst[i] = m.tone[b]
	}
}
