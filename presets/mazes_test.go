package presets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The original's learning rate of PPO is another one with a bonus than without, also beside a
// generator; and generators of mazes scale the reward at every scale.
func TestPPOHasTheRatesOfTheOriginal(t *testing.T) {
	for _, method := range []string{"ppo", "ppo-curiosity", "ppo-rnd", "ppo-eco", "ppo-oracle", "synther", "pgr-curiosity", "pgr-rnd", "pgr-eco", "resample"} {
		for _, scale := range []string{"paper", "release"} {
			c, err := Resolve(Choice{Task: "maze-sparse", Method: method, Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			want := 1.93e-4
			if strings.HasPrefix(method, "ppo-") {
				want = 2.5e-4
			}
			if c.Knobs.LRActor != want {
				t.Errorf("%s at %s: lr_actor %g, want %g", method, scale, c.Knobs.LRActor, want)
			}
			if c.Generates() && c.Generator.SkipReward {
				t.Errorf("%s at %s does not scale the reward", method, scale)
			}
		}
	}
}

// What a file sets to zero stays zero where another axis is chosen.
func TestEditsToZeroStay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.toml")
	doc := "task = \"maze-sparse\"\nmethod = \"ppo-oracle\"\nscale = \"short\"\n\n[environment]\ncell_bonus = 0.0\n"
	if err := os.WriteFile(file, []byte(doc), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, scale := range []string{"", "demo"} {
		c, err := Resolve(Choice{Preset: file, Scale: scale})
		if err != nil || c.Environment.CellBonus != 0 {
			t.Errorf("scale %q: a bonus of %g for new cells, %v", scale, c.Environment.CellBonus, err)
		}
	}
}
