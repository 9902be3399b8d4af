package command

import (
	"fmt"
	"strings"

	"pgrlab/core/lab"
)

// eventLine is an event of a run of that many members as a line of progress, or
// "" for one that says nothing to a reader.
func eventLine(e lab.Event, members int) string {
	text := eventText(e)
	if text == "" {
		return ""
	}
	member := ""
	if e.Member != lab.NoMember && members > 1 {
		member = fmt.Sprintf(" member %d", e.Member)
	}
	return fmt.Sprintf("step %d%s: %s", e.Step, member, text)
}

func eventText(e lab.Event) string {
	switch b := e.Body.(type) {
	case lab.Evaluated:
		return fmt.Sprintf("return %.1f ± %.1f over %d episodes", b.ReturnMean, b.ReturnStd, b.Episodes)
	case lab.Dormant:
		return fmt.Sprintf("dormant %.1f %%", 100*b.Ratio)
	case lab.Refit:
		return refitText(b)
	case lab.KnobChanged:
		return knobText(b)
	case lab.InForce:
		return fmt.Sprintf("change %d: %s in force", b.ID, b.Knob)
	case lab.Refused:
		return fmt.Sprintf("refused %s=%s: %s", b.Knob, b.Value, b.Reason)
	case lab.Noted:
		return "note: " + b.Text
	case lab.Checkpointed:
		return checkpointText(b.Obs)
	case lab.Paused:
		return strings.TrimSuffix("paused: "+b.Reason, ": ")
	case lab.Resumed:
		return "resumed"
	}
	return ""
}

func refitText(b lab.Refit) string {
	if b.Steps == 0 {
		return fmt.Sprintf("generated %d transitions in %.1f s", b.Generated, b.Obs.Seconds)
	}
	loss := ""
	if b.Loss != nil {
		loss = fmt.Sprintf(", loss %.4g", *b.Loss)
	}
	return fmt.Sprintf("refit in %.1f s: %d generator steps%s, %d transitions", b.Obs.Seconds, b.Steps, loss, b.Generated)
}

func checkpointText(o lab.CheckpointObs) string {
	if o.Error != "" {
		return "checkpoint failed: " + o.Error
	}
	return fmt.Sprintf("checkpoint %s, %s (%s)", o.Position, size(o.Bytes), o.By)
}

func knobText(b lab.KnobChanged) string {
	text := fmt.Sprintf("change %d: %s %s → %s", b.ID, b.Knob, b.From, b.To)
	if b.Now {
		text += " now"
	}
	if why := b.Why(); why != "" {
		text += " (" + why + ")"
	}
	return text
}
