package cpu

import (
	"testing"

	"pgrlab/core/device"
)

// A chain of eight layers of one width needs the memory of three buffers: the one that is kept, and
// two that alternate. Its numbers are those of its formula.
func TestBuffersShareMemory(t *testing.T) {
	const rows, cols, links = 5, 7, 8
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(i) - 9
	}
	p := &device.Program{Name: "chain", Buffers: []device.Buffer{{Name: "x", Members: 1, Rows: rows, Cols: cols, Host: x}}}
	for i := range links {
		p.Buffers = append(p.Buffers, device.Buffer{Members: 1, Rows: rows, Cols: cols})
		p.Instrs = append(p.Instrs, device.Instr{Code: device.Scale, Out: device.Ref(i + 1), In: []device.Ref{device.Ref(i)}, F: [3]float64{2}, Mask: device.None})
	}
	p.Buffers = append(p.Buffers, device.Buffer{Members: 1, Rows: rows, Cols: cols})
	p.Instrs = append(p.Instrs, device.Instr{Code: device.Add, Out: links + 1, In: []device.Ref{links, 0}, Mask: device.None})
	p.Keep = []device.Ref{links + 1}
	dev, err := New(Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	exec, err := dev.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	memory := map[*float32]bool{}
	for r := 1; r < len(p.Buffers); r++ {
		memory[&exec.Data(device.Ref(r))[0]] = true
	}
	if len(memory) != 3 {
		t.Errorf("%d pieces of memory, want 3", len(memory))
	}
	for range 2 {
		if err := exec.Run(0); err != nil {
			t.Fatal(err)
		}
		for i, v := range exec.Data(links + 1) {
			if want := 257 * x[i]; v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		}
	}
}
