package report

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxRecord bounds a record of an event file, in bytes: those written here have some thousand.
const maxRecord = 16 << 20

// Written are the numbers in a run's event files, by step, in their order. What a restart mark drops is
// not among them.
type Written map[int][]Scalar

// ReadWritten reads a run's event files, oldest first. A file ends where its process was killed: what
// stands there of a record is left out, and so is everything after a record that is damaged.
func ReadWritten(paths []string) (Written, error) {
	all := Written{}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		all.read(bufio.NewReader(file))
		file.Close()
	}
	return all, nil
}

// read reads the records of a file up to the first that is damaged.
func (all Written) read(from io.Reader) {
	for {
		head := make([]byte, 12)
		if _, err := io.ReadFull(from, head); err != nil || binary.LittleEndian.Uint32(head[8:]) != masked(head[:8]) {
			return
		}
		n := binary.LittleEndian.Uint64(head)
		if n > maxRecord {
			return
		}
		data := make([]byte, n+4)
		if _, err := io.ReadFull(from, data); err != nil || binary.LittleEndian.Uint32(data[n:]) != masked(data[:n]) {
			return
		}
		if all.event(data[:n]) != nil {
			return
		}
	}
}

// event adds the numbers of an Event.
func (all Written) event(message []byte) error {
	step, restarts := 0, false
	var values []Scalar
	err := eachField(message, func(field protowire.Number, number uint64, text []byte) error {
		switch field {
		case 2: // Event.step
			step = int(number)
		case 5: // Event.summary
			return eachField(text, func(_ protowire.Number, _ uint64, text []byte) error {
				var v Scalar
				err := eachField(text, func(field protowire.Number, number uint64, text []byte) error {
					switch field {
					case 1: // Summary.Value.tag
						v.Name = string(text)
					case 2: // Summary.Value.simple_value
						v.Value = float64(math.Float32frombits(uint32(number)))
					}
					return nil
				})
				values = append(values, v)
				return err
			})
		case 7: // Event.session_log
			return eachField(text, func(field protowire.Number, number uint64, _ []byte) error {
				restarts = restarts || field == 1 && number == sessionStart
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if restarts {
		for at := range all {
			if at >= step {
				delete(all, at)
			}
		}
	}
	if len(values) > 0 {
		all[step] = append(all[step], values...)
	}
	return nil
}

// eachField calls do with every field of a message: with its number or, if it is one, its text.
func eachField(message []byte, do func(field protowire.Number, number uint64, text []byte) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var number uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var short uint32
			short, n = protowire.ConsumeFixed32(message)
			number = uint64(short)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(message)
		default:
			return fmt.Errorf("a field of kind %d", kind)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := do(field, number, text); err != nil {
			return err
		}
	}
	return nil
}
