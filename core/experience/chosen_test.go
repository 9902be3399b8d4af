package experience_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// slowChoice lists, from all that there ever was, the newest most transitions of a window, with the
// newest keep earlier ones above a reward in the place of the oldest that are not.
func (w *listed) slowChoice(window, keep, most int) (rows []experience.Met) {
	var inside, outside []experience.Met
	for step := range w.met[0] {
		for c := range w.met {
			m := w.met[c][step]
			switch {
			case step+window >= len(w.met[0]):
				inside = append(inside, m)
			case m.Earned > 0:
				outside = append(outside, m)
			}
		}
	}
	inside = inside[max(0, len(inside)-most):]
	outside = outside[max(0, len(outside)-min(keep, len(inside))):]
	left := len(outside)
	for _, m := range inside {
		if left > 0 && m.Earned <= 0 {
			left--
			continue
		}
		rows = append(rows, m)
	}
	return append(outside[left:len(outside):len(outside)], rows...)
}

// D_real is made of the same transitions whether numbers or frames are seen, also after loading, and
// what rows of numbers were made from is known until the next choice.
func TestChosenTransitions(t *testing.T) {
	for seed := range uint64(16) {
		w := newListed(seed)
		window, keep := w.keep.Steps, w.r.IntN(8)
		choice := experience.NewChosen(w.log, window, keep)
		var want []experience.Met
		for round := range 6 {
			for range w.r.IntN(2 * window) {
				w.step()
				choice.Follow()
			}
			for i, m := range want {
				got, err := choice.Row(i)
				if w.shape.Numbers > 0 && err != nil || err == nil && fmt.Sprint(got) != fmt.Sprint(m) {
					t.Fatalf("seed %d: row %d is %v, %v, want %v", seed, i, got, err, m)
				}
			}
			if len(w.met[0]) == 0 {
				continue
			}
			most := 1 + w.r.IntN(2*window*w.shape.Copies)
			n := choice.Choose(most)
			if want = w.slowChoice(window, keep, most); n != len(want) || choice.Len() != n {
				t.Fatalf("seed %d, round %d: %d rows, want %d", seed, round, n, len(want))
			}
			w.log, choice = reloaded(t, w, choice, window, keep)
			row := replay.NewFrameRows(1, 1)[0]
			for i, m := range want {
				if got, err := choice.Row(i); err != nil || fmt.Sprint(got) != fmt.Sprint(m) {
					t.Fatalf("seed %d: row %d is %v, %v, want %v", seed, i, got, err, m)
				}
				if err := choice.Seen(&row, i, 0.9); err != nil || row.Return != m.Earned || row.Respawned != m.Note.Respawned || (row.Discount == 0) != (m.End == experience.Terminated) {
					t.Fatalf("seed %d: row %d is seen as %+v, %v", seed, i, row, err)
				}
			}
			if _, err := choice.Row(n); err == nil {
				t.Fatalf("seed %d: there is a row after the last", seed)
			}
		}
	}
}

// Which rows of frames are forgotten does not depend on what the log holds for other readers.
func TestOtherReadersLetRowsBeForgotten(t *testing.T) {
	var logs [2]*experience.Log
	var chosen [2]*experience.Chosen
	for i := range logs {
		logs[i] = experience.NewLog(experience.Shape{Bytes: 1, Act: 1, Copies: 2}, experience.Keep{Looks: 2 * 7, Steps: 4})
		chosen[i] = experience.NewChosen(logs[i], 4, 0)
	}
	logs[1].Keep(experience.Keep{Looks: 2 * 30, Steps: 20})
	forgotten := 0
	for step := range 12 {
		for i, l := range logs {
			for c := range 2 {
				if step == 5*c { // of the second copy, in the middle of the rows
					l.Begin(c, experience.Look{Frame: []byte{0}})
				}
				if step == 0 && c == 1 {
					l.Begin(c, experience.Look{Frame: []byte{0}})
				}
				l.Add(c, experience.Step{Action: []float32{1}, Next: experience.Look{Frame: []byte{byte(step)}}})
			}
			if step == 6 {
				chosen[i].Choose(8)
			}
		}
		for row := range chosen[0].Len() {
			_, with := chosen[1].Row(row)
			if _, without := chosen[0].Row(row); (with == nil) != (without == nil) {
				t.Errorf("env step %d: row %d: %v, without other readers %v", step, row, with, without)
			}
			if with != nil {
				forgotten++
			}
		}
	}
	if forgotten < 5 {
		t.Errorf("rows were forgotten %d times", forgotten)
	}
}

// reloaded saves a log and a choice from it, and loads both.
func reloaded(t *testing.T, w *listed, from *experience.Chosen, window, keep int) (*experience.Log, *experience.Chosen) {
	t.Helper()
	var log, pinned, chosen bytes.Buffer
	for _, err := range []error{w.log.Save(&log), experience.Pinned{Log: w.log}.Save(&pinned), from.Save(&chosen)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again := experience.NewLog(w.shape, w.keep)
	to := experience.NewChosen(again, window, keep)
	short := bytes.NewReader(chosen.Bytes()[:chosen.Len()-1])
	if experience.NewChosen(nil, window, keep).Load(short, w.shape.Copies) == nil {
		t.Error("a file that was cut off is read")
	}
	for _, err := range []error{again.Load(&log), experience.Pinned{Log: again}.Load(&pinned), to.Load(&chosen, w.shape.Copies), again.Loaded()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return again, to
}

// Transitions have the rows of a ring of as many, in its slots, and batches of them are those of the
// ring.
func TestTransitionsAreThoseOfARing(t *testing.T) {
	for seed := uint64(1); seed < 20; seed += 2 { // numbers
		w := newListed(seed)
		ring := replay.NewRing(replay.Shape{Obs: w.shape.Numbers, Act: w.shape.Act}, w.keep.Steps*w.shape.Copies)
		ring.Annotate()
		view := experience.Transitions{Log: w.log, Steps: w.keep.Steps}
		for range 1 + w.r.IntN(3*w.keep.Steps) {
			w.step()
			for c := range w.shape.Copies {
				m := w.met[c][len(w.met[c])-1]
				ring.Add(replay.Transition{Obs: m.Seen.Numbers, Act: m.Action, Reward: m.Earned, Next: m.Next.Numbers, Note: m.Note})
			}
		}
		if view.Len() != ring.Len() {
			t.Fatalf("seed %d: %d rows, want %d", seed, view.Len(), ring.Len())
		}
		mixer := replay.NewMixer(rng.New(seed, "rows")).WithoutRespawns()
		for occasion := range uint64(5) {
			a, b := replay.NewBatch(ring.Shape(), 30), replay.NewBatch(ring.Shape(), 30)
			if err := mixer.Sample(a, replay.Mix{Real: 30}, ring, nil, occasion); err != nil {
				t.Fatal(err)
			}
			if err := mixer.SampleFrom(b, view, occasion); err != nil {
				t.Fatal(err)
			}
			for k, column := range [][2][]float32{{a.Obs, b.Obs}, {a.Act, b.Act}, {a.Reward, b.Reward}, {a.Next, b.Next}, {a.Done, b.Done}} {
				if fmt.Sprint(column[0]) != fmt.Sprint(column[1]) {
					t.Fatalf("seed %d: column %d is %v, want %v", seed, k, column[1], column[0])
				}
			}
			if fmt.Sprint(a.Notes) != fmt.Sprint(b.Notes) {
				t.Fatalf("seed %d: notes %v, want %v", seed, b.Notes, a.Notes)
			}
		}
	}
}
