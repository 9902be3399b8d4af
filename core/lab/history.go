package lab

import (
	"encoding/json"
	"fmt"

	"pgrlab/core/run"
)

// decoders decodes the lines of a journal, by type.
var decoders = map[string]func(fields func(any) error) (any, error){
	TypeStart: decode[Start], TypeEvaluated: decode[Evaluated], TypeExamined: decode[*Examined], TypeDormant: decode[Dormant], TypeEpisode: decode[Episode],
	TypeRefit: decode[Refit], TypeKnob: decode[KnobChanged], TypeInForce: decode[InForce], TypeScores: decode[Scores],
	TypeLosses: decode[Losses], TypeNote: decode[Noted], TypeDiverged: decode[Diverged], TypeFailed: decode[Failed],
	TypeDone: decode[Done], TypePerf: decode[Perf], TypePause: decode[Paused], TypeResume: decode[Resumed],
	TypeGenerated: decode[Generated], TypeQBias: decode[QBias],
	TypeDetached: decode[View], TypeAttached: decode[View], TypeCheckpoint: decode[Checkpointed], TypePlanned: decode[Planned],
}

func decode[T any](fields func(any) error) (any, error) {
	var body T
	err := fields(&body)
	return body, err
}

// DecodeEvent makes the event that a line of the journal was written for; its time
// is not set. A line that is of no known type, or that no event can be made of, has
// none. Its texts are fit to be shown.
func DecodeEvent(e run.Entry) (Event, bool) { return decodeEvent(e, e.Fields) }

func decodeEvent(e run.Entry, fields func(any) error) (Event, bool) {
	decode, known := decoders[e.Type]
	if !known {
		return Event{}, false
	}
	body, err := decode(fields)
	if err != nil {
		return Event{}, false
	}
	return Event{Type: e.Type, Step: e.Step, Member: e.Member, Body: body}, true
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil && text != "NaN" && text != "Inf" && text != "-Inf" {
		*v = Choice(text)
		return nil
	}
	var number run.Float
	if err := number.UnmarshalJSON(b); err != nil {
		return err
	}
	*v = Number(float64(number))
	return nil
}

// UnmarshalText reads what MarshalText wrote.
func (c *Class) UnmarshalText(text []byte) error {
	for i, name := range classNames {
		if name == string(text) {
			*c = Class(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no class of knobs", text)
}
