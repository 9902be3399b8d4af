package lab

import (
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/replica"
)

// The estimate before a run is at least the size of a checkpoint at any border, and at most twice
// that.
func TestTheSizeOfACheckpointIsKnownBefore(t *testing.T) {
	dev := testDevice(t)
	pgr, two := realConfig(), variant("max")
	pgr.Agent.Hidden, pgr.Generator.Width = []int{32, 32}, 64
	two.Agent.Hidden, two.Generator.Retain = []int{32, 32}, 1
	own := two.Generator.Kinds.Of("ensemble").(generative.EnsembleConfig)
	own.Width, own.Layers, own.Elites = 64, 3, own.Members
	two.Generator.Kinds = generative.Kinds{"ensemble": own}
	checkpointsAreKnown(t, dev, pgr, 0)
	checkpointsAreKnown(t, dev, two, 6) // the notes of rows that an explorer learns from
}

// checkpointsAreKnown says whether the estimate before a run of c is right; a row of D_syn takes so many
// bytes more than one of D_real.
func checkpointsAreKnown(t *testing.T, dev device.Device, c config.Config, more int64) {
	t.Helper()
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
		t.Errorf("%s: %d bytes were said, the largest checkpoint has %d", c.Method, need.Checkpoint, most)
	}
	if row := int64(l.x.first().Real.RowBytes()); need.Real != int64(c.Steps)*row || need.Generation != int64(c.Knobs.Samples)*(row+more) {
		t.Errorf("%s: %+v with rows of %d bytes", c.Method, need, row)
	}
}
