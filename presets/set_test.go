package presets

import (
	"reflect"
	"strings"
	"testing"

	"pgrlab/core/generative"
)

func TestSet(t *testing.T) {
	c, err := Resolve(Choice{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "short"})
	if err != nil {
		t.Fatal(err)
	}
	before := c
	for _, s := range [][2]string{{"generator.width", "512"}, {"generator.activation", "silu"}, {"generator.clamp", `"none"`}, {"generator.vae.beta", "0.5"}, {"seed", "9"}} {
		if err := Set(&c, s[0], s[1]); err != nil {
			t.Error(err)
		}
	}
	if g := c.Generator; g.Width != 512 || g.Activation != "silu" || g.Clamp != "none" || g.Kinds.Of("vae").(generative.VAEConfig).Beta != 0.5 || c.Seed != 9 {
		t.Errorf("%+v", c.Generator)
	}
	if g := c.Generator; g.Blocks != before.Generator.Blocks || g.PMean != before.Generator.PMean || c.Task != before.Task {
		t.Errorf("other keys changed: %+v", c)
	}
	good := c.Generator
	for _, s := range []struct{ key, value, want string }{
		{"generator.widht", "512", `did you mean "generator.width"`},
		{"generator.width", "wide", "set generator.width=wide"},
		{"generator.width", "5\nblocks = 7", "one value"},
		{"", "5", "set =5"},
	} {
		if err := Set(&c, s.key, s.value); err == nil || !strings.Contains(err.Error(), s.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s: %v", s.key, s.value, err)
		}
	}
	if !reflect.DeepEqual(c.Generator, good) {
		t.Errorf("a refused change changed %+v", c.Generator)
	}
}
