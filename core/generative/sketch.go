package generative

import "fmt"

// PromptScores returns the scores that the first n samples of a generation are prompted
// with, nil if the last complete fit had no scores or the guidance is 0. The answer holds until the next fit
// is complete.
func (d *Diffusion) PromptScores(knobs GenKnobs, occasion uint64, n int) []float32 {
	if knobs.Guidance == 0 {
		return nil // the network without a condition: nothing is asked for
	}
	return d.serving.asked(d.config, knobs, d.promptStream(), occasion, n)
}

// Sketch begins a small generation beside all others, to show what a change of knobs
// would make of the present generator. It uses the network of the last complete fit,
// random numbers of its own (the same occasion gives the same ones) and memory of its
// own, so it does not affect a fit or a generation under way. next makes one network
// call and returns what GenerateSlice returns. A sketch is stale, and next must not be
// called any more, once a fit is complete or another sketch has begun.
func (d *Diffusion) Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error) {
	if d.sketches == nil {
		d.sketches = newCalls(d.served, d.layout.width(), d.stream.Sub("sketch").Sub("sampler noise"), d.calls.device)
	}
	beside := *d
	beside.fit, beside.generation = nil, nil
	beside.stream, beside.calls = d.stream.Sub("sketch"), d.sketches
	if err := beside.StartGenerate(knobs, occasion); err != nil {
		return nil, fmt.Errorf("sketch: %w", err)
	}
	return beside.GenerateSlice, nil
}
