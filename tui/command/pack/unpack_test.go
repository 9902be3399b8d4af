package pack

import (
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/presets"
)

// A packed run whose configuration cannot be read, or whose checkpoint claims more than this machine or
// any checkpoint of the configuration could hold, is refused before anything is read of it.
func TestWhatAPackedRunMayClaim(t *testing.T) {
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := presets.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	claims := func(doc string, bytes int64) error {
		_, err := limitOf(&run.Packed{Name: "a", Config: doc, Checkpoint: run.Header{Sections: []run.Part{{Name: "loop", Bytes: bytes}}}})
		return err
	}
	if err := claims(string(doc), 1<<20); err != nil {
		t.Error(err)
	}
	if err := claims(string(doc), 1<<50); config.ThisMachine().Memory > 0 && (err == nil || !strings.Contains(err.Error(), "a takes 1024.0 TiB of memory to unpack, and ")) {
		t.Error(err)
	}
	if err := claims("steps = 'many'", 1); err == nil || !strings.Contains(err.Error(), "is damaged: its configuration: ") {
		t.Error(err)
	}
}
