package lab

import (
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/replica"
)

// The estimate before a run is at least the size of a checkpoint at any border, and at most twice
// that.
func TestTheSizeOfACheckpointIsKnownBefore(t *testing.T) {
	dev, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := realConfig()
	c.Agent.Hidden = []int{32, 32}
	c.Generator.Width = 64
	folder := &memoryFolder{}
	begin := func() *Lab {
		p, err := newParts(&c, newWorld().task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, newWorld().task(), folder, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := begin()
	need, err := l.DiskNeed()
	if err != nil {
		t.Fatal(err)
	}
	var most int64
	for _, m := range borders(t, l, folder, eachNth(1)) {
		var bytes int64
		for name, part := range m.parts {
			if !strings.HasSuffix(name, "/"+replica.SectionReal) && !strings.HasSuffix(name, "/"+replica.SectionSynthetic) {
				bytes += int64(len(part))
			}
		}
		most = max(most, bytes)
	}
	if need.Checkpoint < most*9/10 || need.Checkpoint > 2*most {
		t.Errorf("%d bytes were said, the largest checkpoint has %d", need.Checkpoint, most)
	}
	if row := int64(l.x.first().Real.RowBytes()); need.Real != int64(c.Steps)*row || need.Generation != int64(c.Knobs.Samples)*row {
		t.Errorf("%+v with rows of %d bytes", need, row)
	}
}
