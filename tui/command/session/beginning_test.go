package session

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// The screen may end before, while or after the run begins.
func TestBeginning(t *testing.T) {
	starts := 0
	b := newBeginning(func() error { starts++; return nil })
	for range 2 {
		if err := b.do(); err != nil || starts != 1 {
			t.Errorf("%v, %d starts", err, starts)
		}
	}
	if err, begun := b.end(); err != nil || !begun {
		t.Errorf("end: %v, %v", err, begun)
	}
	late := newBeginning(func() error { t.Error("began after the end"); return nil })
	late.end()
	if err := late.do(); !errors.Is(err, context.Canceled) {
		t.Errorf("do after end: %v", err)
	}
	slow, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	broken := newBeginning(func() error { close(slow); <-release; return errors.New("no device") })
	wg.Go(func() { broken.do() })
	<-slow
	wg.Go(func() {
		if err, begun := broken.end(); err == nil || !begun {
			t.Errorf("end does not wait for the start: %v, %v", err, begun)
		}
	})
	close(release)
	wg.Wait()
}
