package lab

import (
	"context"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/testing/tiny"
)

// What a learner says of its device is a line of the journal, once, and no part of what makes a run
// the same as another: it depends on what else uses the device.
func TestRemarksOnTheDevice(t *testing.T) {
	var canonical [2]string
	for i := range canonical {
		c, folder, dev := tiny.Pixels(), &memoryFolder{}, tiny.Device(t)
		p, err := newParts(&c, tiny.Task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		if made := p.Learner; i == 1 {
			p.Learner = func(log *experience.Log, seed uint64) (*agent.Made, error) {
				x, err := made(log, seed)
				if err != nil {
					return nil, err
				}
				looks := 0
				x.Remark = func() string {
					if looks++; looks == 3 {
						return "slower"
					}
					return ""
				}
				return x, nil
			}
		}
		l, err := newLab(c, tiny.Task(), folder, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		said, steps := bodies[event.Device](l)
		if len(said) != i || i == 1 && (said[0].Text != "slower" || steps[0] != 10) {
			t.Errorf("at env steps %v it says %+v", steps, said)
		}
		canonical[i] = folder.canonical(t)
	}
	if canonical[0] != canonical[1] {
		t.Errorf("with a remark the journal is\n%s\nwithout\n%s", canonical[1], canonical[0])
	}
}
