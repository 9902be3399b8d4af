package experience

import (
	"slices"
	"testing"
)

// An episode that was lost ends in a rollout: what follows is another one.
func TestALostEpisodeEndsInARollout(t *testing.T) {
	l := NewLog(Shape{Numbers: 1, Act: 1, Copies: 1}, Keep{Looks: 10, Steps: 3})
	r := &Rollout{Log: l, Steps: 3}
	one := func(x float32) Look { return Look{Numbers: []float32{x}} }
	add := func(x, reward float32) {
		l.Add(0, Step{Action: []float32{0}, Reward: reward, Next: one(x)})
		l.SetRewards([]float32{reward})
	}
	l.Begin(0, one(0))
	add(1, 1)
	l.Begin(0, one(5)) // the first one is lost
	add(6, 10)
	add(7, 20)
	got := make([]float32, 3)
	if r.Returns(got, 0.5); !slices.Equal(got, []float32{1, 20, 20}) || r.Row(0).End != Truncated || r.Row(1).End != Continues {
		t.Errorf("returns %v, ends %v and %v", got, r.Row(0).End, r.Row(1).End)
	}
}
