package source

import (
	"fmt"

	"pgrlab/core/task"
)

// Televise switches the TV of the environments that have one. "" leaves it as the task has it.
func (s *Copies) Televise(tv string) error {
	for i := range s.envs {
		if t := s.envs[i].televise; t != nil && tv != "" {
			if err := t(tv); err != nil {
				return err
			}
		}
	}
	return nil
}

// Locate writes where the copies are to dst [K,2], if it is not nil, and returns it. KeepPlaces makes one.
func (s *Copies) Locate(dst []float32) []float32 {
	for i := range s.envs {
		s.locate(dst, i)
	}
	return dst
}

// locate writes where copy i is to places, which are those of all copies, if there are any.
func (s *Copies) locate(places []float32, i int) {
	if place := s.envs[i].place; place != nil && places != nil {
		x, y := place()
		places[2*i], places[2*i+1] = float32(x), float32(y)
	}
}

// KeepPlaces keeps where the copies are from now on, in Places, if the environment says where that is.
func (s *Copies) KeepPlaces() {
	if s.Places == nil && s.envs[0].place != nil {
		s.Places = s.Locate(make([]float32, 2*len(s.envs)))
	}
}

// Acted is the action of the first copy in the env step, whose pose Pose returns.
func (s *Copies) Acted() []float32 { return s.Row(s.Action, 0) }

// Pose returns the pose of the first copy; nil if its environment has none.
func (s *Copies) Pose() []float64 {
	if pose := s.envs[0].pose; pose != nil {
		return pose(nil)
	}
	return nil
}

// Part is the environment of a copy under its name in a checkpoint: the one that the copy has at the time.
type Part struct {
	Name string
	Env  task.Env
}

// Parts are the environments of all copies.
func (s *Copies) Parts() []Part {
	all := make([]Part, len(s.envs))
	for i := range all {
		all[i] = Part{fmt.Sprintf("env %d", i), &s.envs[i]}
	}
	all[0].Name = "env"
	return all
}
