package lab

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/run"
	"pgrlab/core/testing/cputest"
)

// Several labs in one process, on one device and built at the same time, train as each does alone:
// they share the workers and nothing else.
func TestLabsAtOnce(t *testing.T) {
	const labs = 3
	config := func(i int) config.Config {
		c := realConfig()
		c.Seed = uint64(20 + i)
		return c
	}
	var alone, together [labs]string
	for i := range labs {
		_, alone[i] = realRun(t, config(i), 1)
	}
	dev := cputest.New(t, cpu.Options{Threads: 2, Family: "go"})
	dir := t.TempDir()
	var wait sync.WaitGroup
	var failed [labs]error
	for i := range labs {
		wait.Go(func() { together[i], failed[i] = playOn(dev, config(i), fmt.Sprintf("%s/run%d", dir, i)) })
	}
	wait.Wait()
	for i := range labs {
		if failed[i] != nil {
			t.Fatal(failed[i])
		}
		if alone[i] != together[i] {
			t.Errorf("lab %d writes\n%s\nby itself\n%s", i, together[i], alone[i])
		}
	}
}

// playOn plays a whole run on a device and returns its canonical journal.
func playOn(dev *cpu.Device, c config.Config, dir string) (string, error) {
	folder, err := run.Create(dir, []byte("seed = 7\n"))
	if err != nil {
		return "", err
	}
	l, err := New(context.Background(), c, newWorld().task(), dev, folder)
	if err != nil {
		return "", err
	}
	l.OnFault(FaultFail)
	if err := l.Run(context.Background()); err != nil {
		return "", err
	}
	f, err := os.Open(dir + "/" + run.JournalName)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	err = run.Canonical(f, &b)
	return b.String(), err
}
