package sweep

import (
	"strings"
	"testing"
)

// Names stay as they are where they can, and whatever they are they make one folder of the sweep.
func TestTheNamesOfFolders(t *testing.T) {
	for want, j := range map[string]Job{
		"0003-cartpole-swingup-pgr-curiosity-s1":       {Index: 3, Task: "cartpole-swingup", Method: "pgr-curiosity", Seed: 1},
		"0000-gym%3ACartPole-v1-sac-s0":                {Task: "gym:CartPole-v1", Method: "sac"},
		"0000-gym%3AALE%2FPong-v5-sac-s0":              {Task: "gym:ALE/Pong-v5", Method: "sac"},
		"0000-.%2Fpole.toml-sac-s0":                    {Task: "./pole.toml", Method: "sac"},
		"0000-..%2F..%2Fx-%1B%5D0%3Bx-s0":              {Task: "../../x", Method: "\x1b]0;x"},
		"0000-t-m-s0-guidance=3_generator.width=64_64": {Task: "t", Method: "m", Variant: "guidance=3 generator.width=[64,64]"},
		"0000-%D0%BC%C3%A4%20%25-m-s0":                 {Task: "мä %", Method: "m"},
	} {
		if got := j.Name(); got != want || j.check() != nil {
			t.Errorf("%+v: %s, want %s (%v)", j, got, want, j.check())
		}
	}
	for _, j := range []Job{{Task: "t"}, {Method: "m"}, {Task: strings.Repeat("x", 300), Method: "m"}, {Task: strings.Repeat("/", 80), Method: "m"}} {
		if err := j.check(); err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 200 {
			t.Errorf("%.20s: %v", j.Task, err)
		}
	}
}
