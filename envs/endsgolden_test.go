package envs

import (
	"fmt"
	"slices"
	"testing"

	"pgrlab/core/testing/golden"
)

// The rules by which tasks of Gym end are those of jannerm/mbpo @ac694ff (mbpo/static/*.py) on recorded
// observations: at the bounds, and of numbers that are not finite. Its rule for Hopper is meant to bound all
// numbers but the height by 100, and with a bracket in the wrong place bounds them from above only; Gym's own
// environment, and ours, end on both sides.
func TestGoldenEnds(t *testing.T) {
	type cases struct{ Next, Ended golden.Array }
	var file struct {
		Terminations struct{ Hopper, Walker2d, HalfCheetah cases }
		Rollout      struct {
			Next  golden.Array
			Ended golden.Array `json:"ended_hopper"`
			On    golden.Array `json:"continue_from"`
		}
	}
	golden.Recorded(t, "mbpo.json", &file)
	f, bracket := file.Terminations, 0
	for _, of := range []struct {
		task string
		cases
	}{{"Hopper-v2", f.Hopper}, {"Hopper-v2", cases{file.Rollout.Next, file.Rollout.Ended}}, {"Walker2d-v2", f.Walker2d}, {"HalfCheetah-v2", f.HalfCheetah}} {
		task, err := Find(of.task)
		if err != nil {
			t.Fatal(err)
		}
		rows, both := slices.Collect(slices.Chunk(of.Next.Float32(), of.Next.Shape[1])), map[bool]int{}
		if len(of.Ended.Data) != len(rows) {
			t.Fatalf("%s: %d observations and %d ends are recorded", of.task, len(rows), len(of.Ended.Data))
		}
		for i, next := range rows {
			ends, want := task.Ends != nil && task.Ends(nil, nil, next), of.Ended.Data[i] == 1
			both[want]++
			if below := func(x float32) bool { return x <= -gymHopperBound }; of.task == "Hopper-v2" && !want && slices.ContainsFunc(next[1:], below) {
				want = true
				bracket++
			}
			if ends != want {
				t.Errorf("%s, %s: it ends: %t, want %t", of.task, fmt.Sprint(next), ends, want)
			}
		}
		if both[false] == 0 || both[true] == 0 && task.Ends != nil {
			t.Errorf("%s: %d observations that end and %d that do not are recorded", of.task, both[true], both[false])
		}
	}
	if bracket != 1 {
		t.Errorf("the misplaced bracket decides %d observations, want 1", bracket)
	}
	var on []float32
	hopper, err := Find("Hopper-v2")
	if err != nil {
		t.Fatal(err)
	}
	for next := range slices.Chunk(file.Rollout.Next.Float32(), file.Rollout.Next.Shape[1]) {
		if !hopper.Ends(nil, nil, next) {
			on = append(on, next...)
		}
	}
	file.Rollout.On.Close(t, "where rollouts go on", on, 1e-6)
}
