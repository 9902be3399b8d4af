package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// A run is the same however its flags are spelled: counts as people write them, and knobs by name
// or by symbol.
func TestSpellings(t *testing.T) {
	config := func(flags ...string) config.Config {
		t.Helper()
		t.Chdir(t.TempDir())
		d := commandtest.Deps()
		var doc []byte
		d.Device = func(cli.DeviceRequest) (cli.Device, error) { // the folder exists while the device starts
			var err error
			if doc, err = os.ReadFile(filepath.Join("run", run.ConfigName)); err != nil {
				t.Error(err)
			}
			return nil, errors.New("a test has no device")
		}
		Main(context.Background(), d, append([]string{"train", "--out", "run"}, flags...), strings.NewReader(""), io.Discard, io.Discard)
		c, err := presets.Decode("config.toml", doc)
		if err != nil {
			t.Fatalf("%v: %v", flags, err)
		}
		return c
	}
	for _, pair := range [][2]string{
		{"--steps 20k", "--steps 20000"}, {"--steps 1e4", "--steps 10000"}, {"--steps 0.5M", "--steps 500000"},
		{"--set ω=3", "--set guidance=3"}, {"--set T=2k", "--set generator_steps=2000"}, {"--set F=td", "--set relevance=td"},
		{"--at 10k:ω=3!", "--at 10000:guidance=3!"}, {"--at 10_000/fit:1k:F=td", "--at 10000/fit:1000:relevance=td"},
	} {
		one, two := config(strings.Fields(pair[0])...), config(strings.Fields(pair[1])...)
		a, err := presets.Encode(one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := presets.Encode(two)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("%s is not %s:\n%s", pair[0], pair[1], a)
		}
	}
}

// Every symbol that the screen accepts is also accepted by --set.
func TestSymbols(t *testing.T) {
	for _, k := range knob.All() {
		if k.Symbol == "" {
			continue
		}
		if _, err := knob.Find(k.Symbol); err != nil {
			t.Errorf("--set %s=…: %v", k.Symbol, err)
		}
	}
}
