package terminal

import (
	"fmt"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/command/cli"
)

// eventLine is an event, in a run of that many members, as a line of progress; "" for an event that
// means nothing to a reader.
func eventLine(e event.Event, members int) string {
	text := eventText(e)
	if text == "" {
		return ""
	}
	member := ""
	if e.Member != event.NoMember && members > 1 {
		member = fmt.Sprintf(" member %d", e.Member)
	}
	return fmt.Sprintf("step %d%s: %s", e.Step, member, text)
}

func eventText(e event.Event) string {
	switch b := e.Body.(type) {
	case event.Evaluated:
		return fmt.Sprintf("return %.1f ± %.1f over %d episodes", b.ReturnMean, b.ReturnStd, b.Episodes)
	case event.Dormant:
		return fmt.Sprintf("dormant %.1f %%", 100*b.Ratio)
	case event.Refit:
		return refitText(b)
	case event.KnobChanged:
		return knobText(b)
	case event.InForce:
		if b.Share > 0 {
			return fmt.Sprintf("change %d: %s in force in %.0f %% of D_syn", b.ID, b.Knob, 100*b.Share)
		}
		return fmt.Sprintf("change %d: %s in force", b.ID, b.Knob)
	case event.Whole:
		return fmt.Sprintf("change %d: %s in force in all of D_syn", b.ID, b.Knob)
	case event.Refused:
		return fmt.Sprintf("refused %s=%s: %s", b.Knob, b.Value, b.Reason)
	case event.Data:
		return "data: " + b.Text()
	case event.Noted:
		return "note: " + b.Text
	case event.Device:
		return "note: " + b.Text
	case event.Checkpointed:
		return checkpointText(b.Obs)
	case event.Paused:
		return strings.TrimSuffix("paused: "+b.Reason, ": ")
	case event.Resumed:
		return "resumed"
	}
	return ""
}

func refitText(b event.Refit) string {
	dropped := ""
	if b.Rollouts != nil && b.Rollouts.Dropped > 0 {
		dropped = fmt.Sprintf(", %d dropped because they were not finite", b.Rollouts.Dropped)
	}
	if b.Steps == 0 {
		return fmt.Sprintf("generated %d transitions in %.1f s%s", b.Generated, b.Obs.Seconds, dropped)
	}
	fit := ""
	if b.Loss != nil {
		fit = fmt.Sprintf(", loss %.4g", *b.Loss)
	}
	if b.Ensemble != nil {
		fit += fmt.Sprintf(", model error %.4g", b.Ensemble.Best())
	}
	return fmt.Sprintf("refit in %.1f s: %d generator steps%s, %d transitions%s", b.Obs.Seconds, b.Steps, fit, b.Generated, dropped)
}

func checkpointText(o event.CheckpointObs) string {
	if o.Error != "" {
		return "checkpoint failed: " + o.Error
	}
	text := fmt.Sprintf("checkpoint %s, %s (%s)", o.Position, cli.Size(o.Bytes), o.By)
	if o.Limited != "" {
		text += ": " + o.Limited
	}
	return text
}

func knobText(b event.KnobChanged) string {
	text := fmt.Sprintf("change %d: %s %s → %s", b.ID, b.Knob, b.From, b.To)
	if b.Now {
		text += " now"
	}
	if why := b.Why(); why != "" {
		text += " (" + why + ")"
	}
	return text
}
