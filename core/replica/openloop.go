package replica

import (
	"pgrlab/core/event"
	"pgrlab/core/inspect"
)

// reportOpenLoop reports what a model of the world predicts.
func (o *Trial) reportOpenLoop(v inspect.View, number uint64) error {
	line, err := v.OpenLoop(number)
	if line != nil && err == nil {
		o.of.emit(event.TypeOpenLoop, *line)
	}
	return err
}
