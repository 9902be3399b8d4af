package driver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// four returns the GPUs of the tests, as a driver lists them.
func four() []Info {
	all := []Info{
		{Name: "A100", UUID: "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", Capability: [2]int{8, 0}, Free: 10 << 30, Memory: 40 << 30},
		{Name: "A100", UUID: "GPU-8932aaaa-0000-0000-0000-000000000001", Capability: [2]int{8, 0}, Free: 39 << 30, Memory: 40 << 30},
		{Name: "K80", UUID: "GPU-1111aaaa-0000-0000-0000-000000000002", Capability: [2]int{3, 7}, Free: 99 << 30, Memory: 99 << 30},
		{Name: "A100", UUID: "GPU-0000aaaa-0000-0000-0000-000000000003", Capability: [2]int{8, 0}, Free: 20 << 30, Memory: 40 << 30},
	}
	for i := range all {
		all[i].Index = i
	}
	return all
}

// usages is what a Watcher of the tests reports.
type usages map[string][]Process

func (u usages) Usage(uuid string) (Usage, error) {
	p, known := u[uuid]
	if !known {
		return Usage{}, fmt.Errorf("not known")
	}
	return Usage{Processes: p}, nil
}

func TestChoose(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
	all := four()
	us := Process{PID: os.Getpid(), Memory: 1 << 30}
	them := Process{PID: os.Getpid() + 1, Memory: 1 << 30}
	idle := usages{all[0].UUID: {}, all[1].UUID: {}, all[2].UUID: {}, all[3].UUID: {us}}
	busy := usages{all[0].UUID: {them}, all[1].UUID: {them, us, them, them, them}, all[2].UUID: {}, all[3].UUID: {them}}
	one := usages{all[0].UUID: {}, all[1].UUID: {them}, all[3].UUID: {us}}
	for _, c := range []struct {
		name    string
		devices []Info
		watcher Watcher
		want    int
		say     string // in the reason or the error
	}{
		{"auto", all, idle, 1, "39 GiB free, the most of 4 GPUs"},
		{"auto", all, nil, 1, "39 GiB free"},
		{"auto", all, usages{}, 1, "39 GiB free"}, // processes are not visible
		{"auto", all, one, 3, "20 GiB free"},      // our own process does not count
		{"auto", all, busy, -1, "no GPU is free: cuda:2: K80 has compute capability 3.7, and at least 7.0 is needed; cuda:1: processes "},
		{"auto", all[:1], idle, 0, "10 GiB free"},
		{"auto", nil, idle, -1, "no GPU was found"},
		{"cuda", all, idle, 1, "39 GiB free"},
		{"cuda", all, busy, 1, "39 GiB free, the most of 4 GPUs; processes "},
		{"cuda", all[2:3], idle, -1, "compute capability 3.7"},
		{"cuda:0", all, busy, 0, "as asked"},
		{"cuda:2", all, idle, -1, "device cuda:2: K80 has compute capability 3.7, and at least 7.0 is needed: choose another one"},
		{"cuda:4", all, idle, -1, "device cuda:4: there is no such GPU: they are 0 to 3 (under CUDA_VISIBLE_DEVICES=0,1,2,3)"},
		{"GPU-0000", all, idle, 3, "as asked"},
		{"gpu-8932f", all, idle, 0, "as asked"},
		{"GPU-8932", all, idle, -1, "the UUIDs of several GPUs begin with GPU-8932"},
		{"gpu", all, idle, -1, "device gpu: want auto, cuda"},
		{"GPU-77", all, idle, -1, "no GPU has a UUID that begins with GPU-77"},
	} {
		got, err := Choose(c.devices, c.name, 70, c.watcher)
		said := got.Why
		if err != nil {
			said = err.Error()
		}
		if (err != nil) != (c.want < 0) || err == nil && got.Device.Index != c.devices[min(c.want, len(c.devices)-1)].Index || !strings.Contains(said, c.say) {
			t.Errorf("%s: device %d, %q; want %d, %q", c.name, got.Device.Index, said, c.want, c.say)
		}
	}
	var none *NoneFree
	if _, err := Choose(all, "auto", 70, busy); !errors.As(err, &none) || len(none.Reasons) != 4 {
		t.Errorf("%v", err)
	}
	if n := strings.Count(none.Reasons[1], "with 1 GiB"); n != 3 || !strings.Contains(none.Reasons[1], "1 more computes on it") {
		t.Errorf("four processes are reported as: %s", none.Reasons[1])
	}
}
