package device

import (
	"errors"
	"fmt"
	"weak"
)

// Memory is the device memory that Residents needs; P is an address in it.
type Memory[P any] interface {
	Alloc(elements int) (P, error)
	// Free does nothing with the zero value of P, which is no address.
	Free(p P, elements int) error
	// Upload and Download are complete when they return.
	Upload(to P, from []float32) error
	Download(to []float32, from P) error
}

// Residents is a Mirror's record of the host's tensors that it holds: where each one is, and which
// side has the newer numbers. Its owner ensures that only one goroutine uses it at a time.
//
// A tensor is held while a program uses it. When the last such program is closed, the host gets the
// numbers back.
type Residents[P any] struct {
	memory Memory[P]
	held   map[*float32]*Resident[P]
	// marked holds the tensors that become held as soon as a program uses them, as weak pointers,
	// because the memory of a dead tensor may be reused for another one.
	marked map[weak.Pointer[float32]]struct{}
	parked bool // nothing is in the device's memory
	// Version increases whenever a tensor becomes marked that programs may have read from the host
	// until then.
	Version int
}

// Resident is one held tensor.
type Resident[P any] struct {
	Host    []float32
	At      P
	Changed bool   // the device's numbers are newer than the host's
	Writes  uint64 // increases whenever the device's numbers change
	users   int
}

// Wrote records that a program has written the device's numbers.
func (x *Resident[P]) Wrote() {
	x.Changed = true
	x.Writes++
}

// NewResidents returns an empty Residents.
func NewResidents[P any](m Memory[P]) *Residents[P] {
	return &Residents[P]{memory: m, held: map[*float32]*Resident[P]{}, marked: map[weak.Pointer[float32]]struct{}{}}
}

// Keeps reports whether a tensor is marked: it is held, or will be once a program uses it.
func (r *Residents[P]) Keeps(host []float32) bool {
	if len(host) == 0 {
		return false
	}
	_, marked := r.marked[weak.Make(&host[0])]
	return marked
}

// Mark makes a tensor one that is held when a program uses it.
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

// Use returns a marked tensor in the device's memory for one more program.
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

// Leave ends one program's use of a tensor.
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

// Fetch copies the device's numbers of a tensor to the host if they are newer.
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

// Push copies the host's numbers to the device and marks the tensor.
func (r *Residents[P]) Push(host []float32) error {
	r.Mark(host)
	if len(host) == 0 {
		return nil
	}
	x, ok := r.held[&host[0]]
	if !ok || r.parked {
		return nil // the next user takes the host's numbers
	}
	x.Changed = false
	x.Writes++
	return r.memory.Upload(x.At, x.Host)
}

// Park copies all numbers to the host and frees the device's memory. Tensors remain recorded; those
// that are used after Wake have new addresses. If numbers cannot be copied, nothing is freed.
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

// Parked reports whether nothing is in the device's memory, as after Park.
func (r *Residents[P]) Parked() bool { return r.parked }

// Drop frees the device's memory and leaves the host's numbers as they are. No tensor keeps an
// address, so that a Wake that fails can be followed by another Drop.
func (r *Residents[P]) Drop() error {
	var err error
	if !r.parked {
		var none P
		for _, x := range r.held {
			err = errors.Join(err, r.memory.Free(x.At, len(x.Host)))
			x.At, x.Changed = none, false
		}
	}
	r.parked = true
	return err
}

// Wake ends Park: every held tensor has memory again, filled with the host's numbers. If it fails,
// some have memory and some do not, until Drop.
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
