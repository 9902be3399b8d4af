package hosts

import (
	"errors"
	"os/exec"
	"reflect"
	"testing"
	"time"

	"pgrlab/core/sweep"
)

func TestParse(t *testing.T) {
	for list, want := range map[string][]Host{
		"a":               {{"a", 0}},
		"a, me@b.net:4,c": {{"a", 0}, {"me@b.net", 4}, {"c", 0}},
		"a:0":             nil, "a:x": nil, "": nil, "a,a": nil, "a,,b": nil, "-oProxyCommand=x": nil, "a b": nil, "../a": nil, "..": nil, "a:9999": nil,
	} {
		got, err := Parse(list)
		if (err == nil) != (want != nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v, want %v", list, got, err, want)
		}
	}
}

// A shell takes quoted words for what they are.
func TestQuoted(t *testing.T) {
	words := []string{"printf", "%s|", "it's", "a b", "$HOME", "", "`x`", "\n"}
	out, err := exec.Command("/bin/sh", "-c", Quoted(words...)).Output()
	if want := "it's|a b|$HOME||`x`|\n|"; err != nil || string(out) != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}

// A host has one worker at a time, which is known while it is there; what it says of itself
// is read back.
func TestAWorkerOfAHost(t *testing.T) {
	dir := t.TempDir()
	if Working(dir, "a") || len(Names(dir)) != 0 {
		t.Error("there is none yet")
	}
	release, err := Hire(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hire(dir, "a"); !errors.Is(err, ErrWorking) {
		t.Error(err)
	}
	if !Working(dir, "a") || Working(dir, "b") {
		t.Error("who works is not known")
	}
	w := Worker{PID: 7, Machine: "m", Jobs: 2, Began: time.Unix(1e9, 0).UTC()}
	w.Note([]sweep.State{sweep.Done, sweep.Running, sweep.Failed, sweep.Running, sweep.Waiting})
	if err := w.Tell(dir, "a"); err != nil {
		t.Fatal(err)
	}
	told, err := Told(dir, "a")
	if err != nil || !reflect.DeepEqual(told, w) || !reflect.DeepEqual(told.Running, []int{1, 3}) || !reflect.DeepEqual(told.Failed, []int{2}) || told.Beat != 1 {
		t.Errorf("%+v, %v, want %+v", told, err, w)
	}
	if err := release(); err != nil || Working(dir, "a") {
		t.Errorf("released: %v", err)
	}
	if names := Names(dir); !reflect.DeepEqual(names, []string{"a"}) {
		t.Errorf("hosts %v", names)
	}
}
