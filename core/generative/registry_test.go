package generative

import (
	"strings"
	"testing"

	"pgrlab/core/replay"
)

// The registry has every kind, describes each truthfully, and can make a generator of each.
func TestRegistry(t *testing.T) {
	var kinds []string
	for _, s := range Specs() {
		kinds = append(kinds, s.Kind)
		if s.Settings != nil && s.Settings.Validate() != nil {
			t.Errorf("%s: its default settings are wrong: %v", s.Kind, s.Settings.Validate())
		}
		if s.Check != nil && s.Check(Default()) != nil {
			t.Errorf("%s: it cannot do the default settings: %v", s.Kind, s.Check(Default()))
		}
		c := Default()
		c.Width, c.Blocks, c.Embedding, c.Batch = 16, 1, 8, 8
		own := s.Settings
		if _, is := own.(VAEConfig); is {
			own = VAEConfig{Latent: 2, Width: 8, Bottleneck: 4, EncoderBlocks: 1, DecoderBlocks: 1, Beta: 0.1}
		}
		g, err := s.New(Deps{Config: c, Settings: own, Shape: replay.Shape{Obs: 3, Act: 1}, Device: newDevice(t), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.StartGenerate(GenKnobs{Samples: 4, Steps: 3, TopFraction: 0.5}, 0); err == nil {
			t.Errorf("%s generates before a fit", s.Kind)
		}
		g.Close()
	}
	if got := strings.Join(kinds, " "); got != "diffusion ensemble resample vae" {
		t.Errorf("kinds: %s", got)
	}
	if _, err := Find("gan"); err == nil || !strings.Contains(err.Error(), "want one of diffusion, ensemble, resample, vae, none") {
		t.Errorf("an unknown kind: %v", err)
	}
}
