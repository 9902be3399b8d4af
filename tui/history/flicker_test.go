package history

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// Level and flicker of the recorded run in docs/demo, computed by another program: Python's
// statistics.median(y[-4:]) and sqrt(sum(d*d)/(2*len(d))) over the differences d of y[-9:], where y
// are the returns up to a step.
func TestNoiseOfTheRecordedRun(t *testing.T) {
	events, err := ReadJournal("../../docs/demo")
	if err != nil {
		t.Fatal(err)
	}
	h := New(0, 1)
	for _, e := range events {
		h.Take(e)
	}
	for _, want := range []struct {
		step           int
		level, flicker float64
		atMost         bool
	}{
		{6000, 74.85472082248249, 25.230274637675354, false},
		{10000, 86.74090569943755, 27.271521554761843, false},
		{15000, 266.8317604155656, 29.760012953846516, true},
		{21000, 401.9426709228526, 82.45078590132358, false},
		{30000, 433.39901346123077, 74.78370987872313, false},
	} {
		n, ok := h.Noise(want.step)
		if !ok || math.Abs(n.Level-want.level) > 1e-9 || math.Abs(n.Flicker-want.flicker) > 1e-9 || n.AtMost != want.atMost {
			t.Errorf("at %d: %+v, %v, want %+v", want.step, n, ok, want)
		}
	}
	if n, ok := h.Noise(5000); ok {
		t.Errorf("five evaluations have %+v", n)
	}
}

// recorded are the returns of the runs of a results file, by task, method, variant and seed, in
// the order of their steps.
func recorded(t *testing.T, file string) map[string][]float64 {
	t.Helper()
	f, err := os.Open("../../docs/evidence/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	out := map[string][]float64{}
	for _, row := range rows[1:] {
		y, err := strconv.ParseFloat(row[column["evaluated/return_mean"]], 64)
		if err != nil {
			continue // a row without an evaluation
		}
		var key []string
		for _, name := range []string{"task", "method", "variant", "settings", "seed"} {
			key = append(key, row[column[name]])
		}
		run := strings.Join(key, "|")
		out[run] = append(out[run], y)
	}
	return out
}

// played is the history of a run with some returns.
func played(returns []float64) *History {
	h := New(0, 1)
	for i, y := range returns {
		h.Take(event.Event{Step: 1000 * (i + 1), Member: event.NoMember, Body: event.Evaluated{ReturnMean: run.Float(y), Episodes: 10}})
	}
	return &h
}

// falls is how many events say that a run fell.
func falls(h *History) (n int) {
	for _, l := range h.Lines {
		if l.Kind == "fell" {
			n++
		}
	}
	return n
}

// Untouched runs hardly ever raise the alarm, and the shares that the screen
// quotes are those of the recorded runs.
func TestUntouchedRunsRaiseNoAlarm(t *testing.T) {
	evaluations, beyond := 0, map[int]int{}
	for _, file := range []string{"study.csv", "study-bounded.csv"} {
		silent, synther := 0, 0
		for key, returns := range recorded(t, file) {
			h := played(returns)
			for i := NoiseFrom; i < len(returns); i++ {
				evaluations++
				for k := 2; k <= 4; k++ {
					if h.Below(i) >= float64(k) {
						beyond[k]++
					}
				}
			}
			if strings.HasPrefix(key, "cheetah-run|synther||") {
				if synther++; falls(h) == 0 {
					silent++
				}
			}
		}
		if synther != 30 || silent < 28 {
			t.Errorf("%s: no alarm in %d of %d runs of synther, want 28 of 30", file, silent, synther)
		}
	}
	for k, want := range map[int]float64{2: 30, 3: 90, 4: 400} {
		if once := float64(evaluations) / float64(beyond[k]); Once(float64(k)) != int(want) || math.Abs(once/want-1) > 0.06 {
			t.Errorf("%d flickers below the level: once in %.0f of %d evaluations, said is %d", k, once, evaluations, Once(float64(k)))
		}
	}
}

// Where the next evaluation of an untouched run lies, beside level ± 2 flickers, is what the help says
// (NumPy's median and diff over the same files: 3.5, 64.4 and 32.1 of 100).
func TestTheBandIsNoForecast(t *testing.T) {
	var below, above, all float64
	for _, file := range []string{"study.csv", "study-bounded.csv"} {
		for _, returns := range recorded(t, file) {
			h := played(returns)
			for i := NoiseFrom; i < len(returns); i++ {
				switch by := h.Below(i); {
				case by > 2:
					below++
				case by < -2:
					above++
				}
				all++
			}
		}
	}
	if math.Abs(below/all-0.035) > 0.001 || math.Abs(above/all-0.321) > 0.001 {
		t.Errorf("below the band %.3f, above it %.3f", below/all, above/all)
	}
}

// Without any change a curve rises in 8 of 10 cases, as the screen says after a change.
func TestUntouchedCurvesRise(t *testing.T) {
	rises, all := 0, 0
	for _, file := range []string{"study.csv", "study-bounded.csv", "study-stopped.csv"} {
		for key, y := range recorded(t, file) {
			if !strings.HasPrefix(key, "cheetah-run|synther|") && !strings.HasPrefix(key, "cheetah-run|pgr-curiosity|") {
				continue
			}
			for i := 8; i+3 < len(y) && i <= 16; i++ { // steps 9,000 to 17,000
				all++
				if y[i+1]+y[i+2]+y[i+3] > y[i]+y[i-1]+y[i-2] {
					rises++
				}
			}
		}
	}
	if got := math.Round(10 * float64(rises) / float64(all)); got != 8 || all < 1000 {
		t.Errorf("%v of 10 rise, in %d cases", got, all)
	}
	t.Logf("%d of %d", rises, all)
}

// A fall that is far beyond the noise is an event; one within it, a rise, a gap and a run of
// several seeds are not.
func TestFalls(t *testing.T) {
	steady := []float64{300, 310, 295, 305, 300, 308, 297, 303}
	for _, c := range []struct {
		name string
		last []float64
		want int
	}{
		{"a collapse", []float64{60}, 1},
		{"within the noise", []float64{290}, 0},
		{"a rise", []float64{500}, 0},
		{"after a gap", []float64{math.NaN(), 60}, 1},
		{"twice", []float64{60, 62}, 1}, // by then the fall is part of the noise
	} {
		if got := falls(played(append(steady[:len(steady):len(steady)], c.last...))); got != c.want {
			t.Errorf("%s: %d events, want %d", c.name, got, c.want)
		}
	}
	if got := falls(played([]float64{300, 310, 295, 305, 300, 1})); got != 0 {
		t.Errorf("%d events before the noise is known", got)
	}
	h := New(0, 1)
	for i, y := range append(steady, 60) {
		for member := range 2 {
			h.Take(event.Event{Step: 1000 * i, Member: member, Body: event.Evaluated{ReturnMean: run.Float(y), Episodes: 10}})
		}
	}
	if _, ok := h.Noise(1 << 30); ok || falls(&h) != 0 {
		t.Error("the noise of one policy is taken of two seeds")
	}
}
