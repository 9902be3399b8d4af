package generative

import (
	"bytes"
	"slices"
	"testing"
)

// A generator whose chunks were made smaller goes on, and begins again, in chunks of that size.
func TestSmallerChunksAreSaved(t *testing.T) {
	rows, scores := randomRows(40)
	for name, made := range map[string]func(chunk int) generator{
		"diffusion": func(chunk int) generator {
			d := newDiffusion(t, tiny(), tinyShape)
			d.chunk = chunk
			return d
		},
		"vae": func(chunk int) generator {
			v := newVAE(t, tiny(), tinyShape)
			v.chunk = chunk
			return v
		},
	} {
		full := tiny().Chunk
		saved := func(g generator) []byte {
			var file bytes.Buffer
			if err := g.Save(&file); err != nil {
				t.Fatal(err)
			}
			return file.Bytes()
		}
		loaded := func(file []byte) generator {
			g := made(full)
			if err := g.Load(bytes.NewReader(file), rows); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return g
		}
		calls := func(g generator) int { // of a whole generation
			if err := g.StartGenerate(tinyGenerate, 1); err != nil {
				t.Fatal(err)
			}
			_, _, total, err := g.GenerateSlice()
			if err != nil {
				t.Fatal(err)
			}
			return total
		}
		g := made(5)
		startFit(t, g, rows, scores, tinyFit, 1)
		finishFit(t, g, 20)
		before := saved(g)
		want := calls(g)
		if got := calls(loaded(before)); got != want {
			t.Errorf("%s: %d calls make it again, %d had made it", name, got, want)
		}
		h := loaded(saved(g))
		if !slices.Equal(finishGeneration(t, g), finishGeneration(t, h)) {
			t.Errorf("%s: a generation in smaller chunks goes on otherwise", name)
		}
	}
}
