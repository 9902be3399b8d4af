package offline

import (
	"errors"
	"testing"

	"pgrlab/core/run"
)

// A few checkpoints are all named, of many the nearest; those that cannot be read are none.
func TestWhichCheckpointsThereAre(t *testing.T) {
	of := func(steps ...int) (all []run.Found) {
		for _, s := range steps {
			all = append(all, run.Found{Header: run.Header{Step: s}})
		}
		return all
	}
	var many []int
	for i := range 40 {
		many = append(many, 500*(40-i))
	}
	broken := append(of(3500, 500), run.Found{Header: run.Header{Step: 1500}, Err: errors.New("cut off")})
	for want, got := range map[string]string{
		"there are those of steps 500, 3,500": listed(broken, 2000),
		"none of its 1 can be read: cut off":  listed(broken[2:], 2000),
		"there are 40, from step 500 to 20,000, the nearest of steps 8,000, 8,500, 9,000, 9,500, 10,000, 10,500":     listed(of(many...), 9400),
		"there are 40, from step 500 to 20,000, the nearest of steps 500, 1,000, 1,500, 2,000, 2,500, 3,000":         listed(of(many...), 1),
		"there are 40, from step 500 to 20,000, the nearest of steps 17,500, 18,000, 18,500, 19,000, 19,500, 20,000": listed(of(many...), 99999),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
