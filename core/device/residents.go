package device

import (
	"errors"
	"fmt"
	"weak"
)

// Memory is a device's own memory as Residents need it; P is an address there.
type Memory[P any] interface {
	Alloc(elements int) (P, error)
	Free(p P, elements int) error
	// Upload and Download are done when they return.
	Upload(to P, from []float32) error
	Download(to []float32, from P) error
}

// Residents is the book that a Mirror keeps: which of the host's tensors it holds,
// where, and which side has the newer numbers. Its owner sees to it that one
// goroutine uses it at a time.
//
// A tensor is held while a program uses it. When the last such program is closed,
// the host gets the numbers back.
type Residents[P any] struct {
	memory Memory[P]
	held   map[*float32]*Resident[P]
	// marked are the tensors that are held as soon as a program uses them, by weak
	// pointers: a dead tensor's memory may become another one's.
	marked map[weak.Pointer[float32]]struct{}
	parked bool // nothing is in the device's memory
	// Version grows whenever a tensor becomes held that programs might have been
	// reading from the host until then.
	Version int
}

// Resident is one held tensor.
type Resident[P any] struct {
	Host    []float32
	At      P
	Changed bool // the device's numbers are newer than the host's
	users   int
}

// NewResidents returns an empty book.
func NewResidents[P any](m Memory[P]) *Residents[P] {
	return &Residents[P]{memory: m, held: map[*float32]*Resident[P]{}, marked: map[weak.Pointer[float32]]struct{}{}}
}

// Keeps says whether a tensor is held, or is to be once a program uses it.
func (r *Residents[P]) Keeps(host []float32) bool {
	if len(host) == 0 {
		return false
	}
	_, marked := r.marked[weak.Make(&host[0])]
	return marked
}

// Mark makes a tensor one that is held.
func (r *Residents[P]) Mark(host []float32) {
	if len(host) == 0 || r.Keeps(host) {
		return
	}
	for mark := range r.marked {
		if mark.Value() == nil {
			delete(r.marked, mark)
		}
	}
	r.marked[weak.Make(&host[0])] = struct{}{}
	r.Version++
}

// Use is a marked tensor in the device's memory for one more program.
func (r *Residents[P]) Use(host []float32) (*Resident[P], error) {
	if x, ok := r.held[&host[0]]; ok {
		if len(x.Host) != len(host) {
			return nil, fmt.Errorf("a tensor of %d numbers was bound as one of %d", len(x.Host), len(host))
		}
		x.users++
		return x, nil
	}
	at, err := r.memory.Alloc(len(host))
	if err != nil {
		return nil, err
	}
	if err := r.memory.Upload(at, host); err != nil {
		r.memory.Free(at, len(host))
		return nil, err
	}
	x := &Resident[P]{Host: host, At: at, users: 1}
	r.held[&host[0]] = x
	return x, nil
}

// Leave is the end of one program's use.
func (r *Residents[P]) Leave(x *Resident[P]) error {
	if x.users--; x.users > 0 {
		return nil
	}
	delete(r.held, &x.Host[0])
	if r.parked {
		return nil
	}
	err := r.bring(x)
	if e := r.memory.Free(x.At, len(x.Host)); err == nil {
		err = e
	}
	return err
}

// Fetch brings the newer numbers of a tensor to the host.
func (r *Residents[P]) Fetch(host []float32) error {
	if len(host) == 0 {
		return nil
	}
	if x, ok := r.held[&host[0]]; ok {
		return r.bring(x)
	}
	return nil
}

func (r *Residents[P]) bring(x *Resident[P]) error {
	if !x.Changed {
		return nil
	}
	if err := r.memory.Download(x.Host, x.At); err != nil {
		return err
	}
	x.Changed = false
	return nil
}

// Push brings the host's numbers to the device and marks the tensor.
func (r *Residents[P]) Push(host []float32) error {
	r.Mark(host)
	if len(host) == 0 {
		return nil
	}
	x, ok := r.held[&host[0]]
	if !ok || r.parked {
		return nil // who needs it next takes the host's numbers
	}
	x.Changed = false
	return r.memory.Upload(x.At, x.Host)
}

// Park brings all numbers to the host and frees the device's memory. Tensors stay
// in the book; those that are used after Wake have new addresses.
func (r *Residents[P]) Park() error {
	var err error
	for _, x := range r.held {
		err = errors.Join(err, r.bring(x))
	}
	if err != nil {
		return err
	}
	return r.Drop()
}

// Drop frees the device's memory and leaves the host what it has.
func (r *Residents[P]) Drop() error {
	var err error
	if !r.parked {
		for _, x := range r.held {
			err = errors.Join(err, r.memory.Free(x.At, len(x.Host)))
			x.Changed = false
		}
	}
	r.parked = true
	return err
}

// Wake is the end of Park: every held tensor has memory again, with the host's
// numbers.
func (r *Residents[P]) Wake() error {
	if !r.parked {
		return nil
	}
	r.parked = false
	for _, x := range r.held {
		var err error
		if x.At, err = r.memory.Alloc(len(x.Host)); err == nil {
			err = r.memory.Upload(x.At, x.Host)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
