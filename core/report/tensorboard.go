package report

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// EventWriter writes a file of events for TensorBoard. The file is a sequence of records
// with a length and two checksums each (tensorflow/tensorflow:
// core/lib/io/record_writer.h); a record holds a message Event (core/util/event.proto).
type EventWriter struct{ w io.Writer }

// eventVersion is the version in the first record of a file.
const eventVersion = "brain.Event:2"

// sessionStart is SessionLog.START.
const sessionStart = 1

// NewEventWriter begins a file; wall is the time in seconds since 1970. The file holds a run from that
// step on: its restart mark makes readers drop what earlier files have of that step and of later ones,
// which belongs to an end that was lost (tensorboard: event_processing/plugin_event_accumulator.py).
func NewEventWriter(w io.Writer, wall float64, step int) (*EventWriter, error) {
	e := &EventWriter{w}
	event := protowire.AppendTag(eventHead(wall, 0), 3, protowire.BytesType) // Event.file_version
	if err := e.record(protowire.AppendString(event, eventVersion)); err != nil {
		return nil, err
	}
	status := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), sessionStart) // SessionLog.status
	event = protowire.AppendTag(eventHead(wall, step), 7, protowire.BytesType)                        // Event.session_log
	return e, e.record(protowire.AppendBytes(event, status))
}

// Write adds the numbers of one moment of a run.
func (e *EventWriter) Write(wall float64, step int, values []Scalar) error {
	if len(values) == 0 {
		return nil
	}
	var summary []byte
	for _, v := range values {
		var value []byte
		value = protowire.AppendTag(value, 1, protowire.BytesType) // Summary.Value.tag
		value = protowire.AppendString(value, v.Name)
		value = protowire.AppendTag(value, 2, protowire.Fixed32Type) // Summary.Value.simple_value
		value = protowire.AppendFixed32(value, math.Float32bits(float32(v.Value)))
		summary = protowire.AppendTag(summary, 1, protowire.BytesType) // Summary.value
		summary = protowire.AppendBytes(summary, value)
	}
	event := protowire.AppendTag(eventHead(wall, step), 5, protowire.BytesType) // Event.summary
	return e.record(protowire.AppendBytes(event, summary))
}

// eventHead returns the fields that every event has.
func eventHead(wall float64, step int) []byte {
	b := protowire.AppendTag(nil, 1, protowire.Fixed64Type) // Event.wall_time
	b = protowire.AppendFixed64(b, math.Float64bits(wall))
	if step != 0 {
		b = protowire.AppendTag(b, 2, protowire.VarintType) // Event.step
		b = protowire.AppendVarint(b, uint64(step))
	}
	return b
}

// record writes the length, its checksum, the data and their checksum.
func (e *EventWriter) record(data []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, masked(data))
	if _, err := e.w.Write(b); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns the CRC-32C, rotated and offset so that data that contain checksums can
// be checked too (tensorflow/tensorflow: core/lib/hash/crc32c.h).
func masked(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
