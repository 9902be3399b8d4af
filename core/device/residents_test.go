package device

import (
	"errors"
	"slices"
	"testing"
)

// shelf is the memory of a device: numbers by address.
type shelf struct {
	at   map[int][]float32
	next int
	full bool
}

func (s *shelf) Alloc(elements int) (int, error) {
	if s.full {
		return 0, errors.New("full")
	}
	s.next++
	s.at[s.next] = make([]float32, elements)
	return s.next, nil
}

func (s *shelf) Free(p, _ int) error                   { delete(s.at, p); return nil }
func (s *shelf) Upload(to int, from []float32) error   { copy(s.at[to], from); return nil }
func (s *shelf) Download(to []float32, from int) error { copy(to, s.at[from]); return nil }

func TestATensorIsHeldWhileAProgramUsesIt(t *testing.T) {
	s := &shelf{at: map[int][]float32{}}
	r, host := NewResidents[int](s), []float32{1, 2}
	if err := r.Push(host); err != nil || len(s.at) > 0 || !r.Keeps(host) || r.Keeps([]float32{1, 2}) {
		t.Fatalf("pushed without a program: %v, %d in memory", err, len(s.at))
	}
	host[0] = 3 // before the first program, which takes the value present then
	first, err := r.Use(host)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Use(host)
	if err != nil || second != first || len(s.at) != 1 {
		t.Fatalf("two programs: %v, %d in memory", err, len(s.at))
	}
	if !slices.Equal(s.at[first.At], []float32{3, 2}) {
		t.Errorf("the device has %v", s.at[first.At])
	}
	s.at[first.At][1], first.Changed = 7, true
	if host[1] != 2 {
		t.Errorf("the host has %v before it fetched", host)
	}
	if err := r.Fetch(host); err != nil || host[1] != 7 || first.Changed {
		t.Errorf("fetched %v, changed %v: %v", host, first.Changed, err)
	}
	host[0] = 9
	if err := r.Push(host); err != nil || s.at[first.At][0] != 9 {
		t.Errorf("pushed %v: %v", s.at[first.At], err)
	}
	s.at[first.At][0], first.Changed = 11, true
	if err := r.Leave(first); err != nil || len(s.at) != 1 || host[0] != 9 {
		t.Errorf("one program left: %d in memory, the host has %v: %v", len(s.at), host, err)
	}
	if err := r.Leave(second); err != nil || len(s.at) != 0 || host[0] != 11 {
		t.Errorf("both left: %d in memory, the host has %v: %v", len(s.at), host, err)
	}
	third, err := r.Use(host)
	if err != nil {
		t.Fatal(err)
	}
	s.at[third.At][0], third.Changed = 5, true
	if err := r.Park(); err != nil || len(s.at) != 0 || host[0] != 5 {
		t.Errorf("parked: %d in memory, the host has %v: %v", len(s.at), host, err)
	}
	host[0] = 6
	if err := errors.Join(r.Push(host), r.Fetch(host), r.Wake()); err != nil || s.at[third.At][0] != 6 {
		t.Errorf("awake: the device has %v: %v", s.at[third.At], err)
	}
	if err := r.Leave(third); err != nil || len(s.at) != 0 {
		t.Errorf("left: %d in memory: %v", len(s.at), err)
	}
	fourth, err := r.Use(host)
	if err := errors.Join(err, r.Park()); err != nil || !r.Parked() || fourth.At != 0 {
		t.Fatalf("parked: the tensor is at %d: %v", fourth.At, err)
	}
	s.full = true
	if err := r.Wake(); err == nil || r.Parked() {
		t.Errorf("a full device woke: %v", err)
	}
	if err := r.Drop(); err != nil || !r.Parked() || fourth.At != 0 {
		t.Errorf("dropped: the tensor is at %d: %v", fourth.At, err)
	}
	if err := r.Leave(fourth); err != nil {
		t.Error(err)
	}
	if _, err := r.Use(host); err == nil {
		t.Error("a full device took a tensor")
	}
}

func TestWrittenTensors(t *testing.T) {
	host := func() Buffer { return Buffer{Members: 1, Rows: 1, Cols: 1, Host: make([]float32, 1)} }
	p := &Program{
		Buffers: []Buffer{host(), host(), {Members: 1, Rows: 1, Cols: 1}, host(), host(), host(), host()},
		Instrs:  []Instr{{Code: FillNormal, Out: 0, Mask: None}, {Code: Square, Out: 2, In: []Ref{0}, Mask: None}},
		Adam:    &Adam{Params: []Ref{3}, Grads: []Ref{2}, M: []Ref{4}, V: []Ref{5}, Rate: 1},
		Lerps:   []Lerp{{Dst: 6, Src: 3, Rate: 1}, {Dst: 3, Src: 2, Rate: None}},
	}
	if got := p.Written(); !slices.Equal(got, []Ref{0, 3, 4, 5, 6}) {
		t.Errorf("a run writes %v", got)
	}
}
