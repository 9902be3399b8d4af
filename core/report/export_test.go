package report

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// The first bytes are those of every file of events that TensorFlow writes: the length of 24 bytes,
// and the checksum of that length.
func TestEventsAreFramedAsTensorFlowDoes(t *testing.T) {
	if c := crc32.Checksum([]byte("123456789"), castagnoli); c != 0xe3069283 { // RFC 3720
		t.Errorf("CRC-32C is %08x", c)
	}
	var b bytes.Buffer
	e, err := NewEventWriter(&b, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	head := "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7fK\"" + // length and its masked checksum
		"\x09\x00\x00\x00\x00\x00\x00\xf0\x3f" + // wall_time = 1
		"\x1a\x0dbrain.Event:2"
	start := "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f" + "\x3a\x02\x08\x01" // session_log { status = START }, at step 0
	if got := b.String(); got[:len(head)] != head || got[len(head)+4+12:len(got)-4] != start {
		t.Errorf("%q", got)
	}
	b.Reset()
	if err := e.Write(1, 300, []Scalar{{"a", 1}}); err != nil {
		t.Fatal(err)
	}
	data := "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f" + "\x10\xac\x02" + // step = 300
		"\x2a\x0a" + "\x0a\x08" + "\x0a\x01a" + "\x15\x00\x00\x80\x3f" // summary { value { tag = "a" simple_value = 1 } }
	if got := b.String(); got[12:len(got)-4] != data || got[0] != byte(len(data)) {
		t.Errorf("%q, want %q", got, data)
	}
	if got := binary.LittleEndian.Uint32(b.Bytes()[b.Len()-4:]); got != masked([]byte(data)) {
		t.Errorf("checksum %08x", got)
	}
	b.Reset()
	if err := e.Write(1, 1, nil); err != nil || b.Len() > 0 {
		t.Errorf("nothing is an event: %v", err)
	}
}

func TestARunAsTables(t *testing.T) {
	r := journal(t, t.TempDir(), "t", "m", 1, []float64{1.5, math.Inf(1)}, knob(2000, "ratio", 0.5, ""))
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+2*3 || strings.Join(rows[0], " ") != "step wall_s member quantity value run seed" {
		t.Fatalf("%v, %v", rows, err)
	}
	if got := strings.Join(rows[2], " "); got != "1000 10.000 0 evaluated/return_mean 1.5 "+r.Dir+" 1" {
		t.Errorf("%q", got)
	}
	if err := r.TensorBoard(&b); err != nil {
		t.Fatal(err)
	}
	records := 0
	for rest := b.Bytes(); len(rest) > 0; records++ {
		n := binary.LittleEndian.Uint64(rest)
		rest = rest[16+n:]
	}
	if records != 4 { // the version, the start and two evaluations
		t.Errorf("%d records", records)
	}
	if name := EventFile(r.Began(), r.Host); name != "events.out.tfevents.1740830400.here.pgrlab" {
		t.Error(name)
	}
	body := struct {
		Mean run.Float `json:"return_mean"`
	}{2}
	if s, err := ScalarsOf("evaluated", body); err != nil || len(s) != 1 || s[0] != (Scalar{Return, 2}) {
		t.Errorf("%v, %v", s, err)
	}
}

// A wide table has a row for each step, and what is measured twice in one has another one; of a step that
// was analysed after the end there is no second row.
func TestAWideTable(t *testing.T) {
	line := func(kind string, step, member int, body map[string]any) run.Line {
		return run.Line{Type: kind, Step: step, Member: member, Body: body}
	}
	r := journal(t, t.TempDir(), "t", "m", 1, []float64{1.5, math.Inf(1)},
		line("episode", 2000, run.NoMember, map[string]any{"return": 1}), line("episode", 2000, run.NoMember, map[string]any{"return": 2}), line("examined", 1000, run.NoMember, map[string]any{"share": 0.5}))
	var b bytes.Buffer
	if err := r.WideCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || strings.Join(rows[0][:2], " ") != "step timestamp" || !slices.IsSorted(rows[0][2:]) {
		t.Fatalf("%v, %v", rows, err)
	}
	got := map[string]string{} // what is in the table, by row and column
	steps := ""
	for i, row := range rows[1:] {
		steps += row[0] + " "
		for j, text := range row[2:] {
			if text != "" {
				got[fmt.Sprint(i, " ", rows[0][j+2])] = text
			}
		}
	}
	for at, want := range map[string]string{"0 evaluated/return_mean": "1.5", "0 examined/share": "0.5", "1 evaluated/return_mean": "+Inf", "1 episode/return": "1", "2 episode/return": "2", "2 evaluated/return_mean": ""} {
		if got[at] != want {
			t.Errorf("%s is %q, want %q", at, got[at], want)
		}
	}
	if steps != "1000 2000 2000 " || rows[1][1] != "2025-03-01T12:00:10.000+00:00" {
		t.Errorf("steps %s, the first at %s", steps, rows[1][1])
	}
}

func TestSafetensors(t *testing.T) {
	var b bytes.Buffer
	err := Safetensors(&b, []Tensor{{"w", []int{2, 1}, []float32{1, 2}}, {"b", []int{1}, []float32{3}}}, map[string]string{"k": "v"})
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint64(b.Bytes())
	var head map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes()[8:8+size], &head); err != nil || size%8 != 0 {
		t.Fatalf("%v, header of %d bytes", err, size)
	}
	if got := string(head["b"]); got != `{"dtype":"F32","shape":[1],"data_offsets":[8,12]}` || string(head["__metadata__"]) != `{"k":"v"}` {
		t.Errorf("%s, %s", got, head["__metadata__"])
	}
	if got := b.String()[8+size:]; got != "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40" {
		t.Errorf("%q", got)
	}
}

// rows are transitions of two observations and one action.
type rows [][]float32

func (r rows) Len() int            { return len(r) }
func (rows) Sizes() (obs, act int) { return 2, 1 }
func (r rows) Row(i int) []float32 { return r[i] }

func TestNPZ(t *testing.T) {
	// The bytes are those that numpy.save writes.
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" + strings.Repeat(" ", 60) + "\n"
	if got := npyHeader("<f4", "(3,)"); got != want || len(got) != 128 {
		t.Errorf("%q, want %q", got, want)
	}
	var b bytes.Buffer
	if err := NPZ(&b, rows{{1, 2, 3, 4, 5, 6, 0}, {7, 8, 9, 10, 11, 12, 1}}, nil); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]float32{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		shape := "(2,)"
		if width := map[string]int{"observations.npy": 2, "actions.npy": 1, "next_observations.npy": 2}[f.Name]; width > 0 {
			shape = fmt.Sprintf("(2, %d)", width)
		}
		if head := string(text[:128]); head != npyHeader("<f4", shape) {
			t.Errorf("%s begins with %q", f.Name, head)
		}
		values := make([]float32, (len(text)-128)/4)
		if err := binary.Read(bytes.NewReader(text[128:]), binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
		got[f.Name] = values
	}
	// The five that SynthER's trainers read (conglu1997/SynthER: corl/shared/buffer.py), and timeouts: no row
	// is followed by the next one.
	if want := map[string][]float32{
		"observations.npy": {1, 2, 7, 8}, "actions.npy": {3, 9}, "rewards.npy": {4, 10}, "next_observations.npy": {5, 6, 11, 12}, "terminals.npy": {0, 1}, "timeouts.npy": {1, 1},
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A running lab has events that are not in its journal. Their numbers measure nothing and may be
// NaN, which no line can hold.
func TestOnlyMeasurementsAreExported(t *testing.T) {
	for kind, want := range map[string]bool{"previewed": false, "refused": false, "evaluated": true} {
		if got := Measures(kind); got != want {
			t.Errorf("%s measures something: %v, want %v", kind, got, want)
		}
	}
}
