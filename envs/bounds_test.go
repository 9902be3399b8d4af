package envs

import (
	"slices"
	"testing"
)

// Actions of -1 and 1 are the ends of the actuators' ranges, which in quadruped are not all alike.
func TestBoundsOfTheActuators(t *testing.T) {
	task, err := Find("quadruped-walk")
	if err != nil {
		t.Fatal(err)
	}
	env, err := task.New(0)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	low, high := env.Bounds()
	if want := slices.Repeat([]float64{-1, -1, -.8}, 4); !slices.Equal(low, want) {
		t.Errorf("low %v, want %v", low, want)
	}
	if want := slices.Repeat([]float64{1, 1.1, .8}, 4); !slices.Equal(high, want) {
		t.Errorf("high %v, want %v", high, want)
	}
}
