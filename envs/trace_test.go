package envs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"
)

func TestTrace(t *testing.T) {
	needPhysics(t)
	var out bytes.Buffer
	opts := TraceOptions{Task: reacherHard, Steps: 1002, Controls: "triangle", Seed: 5}
	if err := Trace(context.Background(), &out, opts); err != nil {
		t.Fatal(err)
	}
	e := makeEnv(t, reacherHard, 5)
	obs, action := make([]float32, 6), make([]float32, 2)
	lines := 0
	for decoder := json.NewDecoder(&out); ; lines++ {
		var line traceLine
		if err := decoder.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var err error
		if line.Step == 0 {
			err = e.Reset(line.Episode, obs)
		} else {
			action[0], action[1] = float32(line.Action[0]), float32(line.Action[1])
			_, _, _, err = e.Step(action, obs)
		}
		if err != nil {
			t.Fatal(err)
		}
		if line.Episode != uint64(lines/1001) || line.Truncated != (line.Step == 1000) || (line.Reward == nil) != (line.Step == 0) {
			t.Fatalf("line %d: %+v", lines, line)
		}
		// Actions pass through float32 here, and the arm is not chaotic.
		if d := distance(line.Obs, appendWide(nil, obs)); d > 1e-4 {
			t.Fatalf("line %d: observation %v, want %v", lines, line.Obs, obs)
		}
	}
	if lines != 1004 {
		t.Errorf("%d lines, want 1002 steps and 2 starts", lines)
	}
	if err := Trace(context.Background(), io.Discard, TraceOptions{Task: reacherHard, Controls: "none"}); err == nil {
		t.Error("traced unknown controls")
	}
}
