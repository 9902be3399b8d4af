package event

import (
	"pgrlab/core/run"
)

// decoders holds the decoder of each type of journal line.
var decoders = map[string]func(fields func(any) error) (any, error){
	TypeStart: decode[Start], TypeData: decode[Data], TypeEvaluated: decode[Evaluated], TypeExamined: decode[*Examined], TypeDormant: decode[Dormant], TypeLatents: decode[Latents], TypeOpenLoop: decode[OpenLoop], TypeEpisode: decode[Episode],
	TypeRefit: decode[Refit], TypeKnob: decode[KnobChanged], TypeInForce: decode[InForce], TypeWhole: decode[Whole], TypeScores: decode[Scores],
	TypeLosses: decode[Losses], TypeNote: decode[Noted], TypeDiverged: decode[Diverged], TypeFailed: decode[Failed],
	TypeDone: decode[Done], TypePerf: decode[Perf], TypePause: decode[Paused], TypeResume: decode[Resumed],
	TypeGenerated: decode[Generated], TypeQBias: decode[QBias],
	TypeDetached: decode[View], TypeAttached: decode[View], TypeCheckpoint: decode[Checkpointed], TypePlanned: decode[Planned],
	TypeCancelled: decode[Cancelled], TypeDevice: decode[Device], TypeFork: decode[Forked], TypeForkLook: decode[Looked], TypeGround: decode[Grounded],
}

func decode[T any](fields func(any) error) (any, error) {
	var body T
	err := fields(&body)
	return body, err
}

// Decode returns the event that a line of the journal was written for, without its
// time. It returns false for a line of an unknown type and for one that cannot be
// decoded. The texts of the event are safe to display.
func Decode(e run.Entry) (Event, bool) { return decodeEvent(e, e.Fields) }

// DecodeRaw is Decode with texts exactly as they were written, for lines that are to be
// written again.
func DecodeRaw(e run.Entry) (Event, bool) { return decodeEvent(e, e.Raw) }

func decodeEvent(e run.Entry, fields func(any) error) (Event, bool) {
	decode, known := decoders[e.Type]
	if !known {
		return Event{}, false
	}
	body, err := decode(fields)
	if p, is := body.(OpenLoop); err != nil || is && !p.whole() {
		return Event{}, false
	}
	return Event{Type: e.Type, Step: e.Step, Member: e.Member, Body: body}, true
}
