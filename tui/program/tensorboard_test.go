package program

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"pgrlab/tui/command/cli"
)

// What is written for TensorBoard is in one file only: a resumed run goes on where the file of its
// beginning ends. A fork has no such file, and begins with what its parent made.
func TestAResumedRunGoesOnInTensorBoard(t *testing.T) {
	d := setUp(t)
	run := func(args ...string) {
		t.Helper()
		if status, _ := pgrlab(t, d, io.Discard, args...); status != cli.StatusDone {
			t.Fatalf("pgrlab %q: status %d", args, status)
		}
	}
	run("train", "--threads", "1", "--preset", "tiny.toml", "--steps", "120", "--out", "whole", "--tensorboard", "tb")
	run("train", "--threads", "1", "--resume", "whole", "--steps", "150", "--tensorboard", "tb")
	run("fork", "whole", "--steps", "180", "--out", "fork")
	run("train", "--threads", "1", "--resume", "fork", "--tensorboard", "tb")
	files, err := filepath.Glob("tb/whole/*")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	slices.Sort(files)
	first, second := scalars(t, files[0]), scalars(t, files[1])
	if len(first) == 0 || len(second) == 0 {
		t.Errorf("%d and %d numbers", len(first), len(second))
	}
	for _, s := range second {
		if s.step < 120 {
			t.Errorf("%s of step %d is there twice", s.tag, s.step)
		}
	}
	files, err = filepath.Glob("tb/fork/*")
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	forked := scalars(t, files[0])
	for _, s := range first {
		if s.step < 120 && !slices.Contains(forked, s) {
			t.Errorf("the fork lacks %s of step %d", s.tag, s.step)
		}
	}
}

// scalar is what a number in a file of events is of.
type scalar struct {
	tag  string
	step int
}

// scalars lists the numbers in a file of events, without its checksums, which the package that writes
// such files tests.
func scalars(t *testing.T, path string) (all []scalar) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(text) > 0 {
		n := binary.LittleEndian.Uint64(text)
		step := 0
		var tags []string
		each(t, text[12:12+n], func(field protowire.Number, number uint64, value []byte) {
			switch field {
			case 2: // Event.step
				step = int(number)
			case 5: // Event.summary
				each(t, value, func(_ protowire.Number, _ uint64, value []byte) {
					each(t, value, func(field protowire.Number, _ uint64, value []byte) {
						if field == 1 { // Summary.Value.tag
							tags = append(tags, string(value))
						}
					})
				})
			}
		})
		for _, tag := range tags {
			all = append(all, scalar{tag, step})
		}
		text = text[12+n+4:]
	}
	return all
}

// each calls do with every field of a protobuf message.
func each(t *testing.T, message []byte, do func(field protowire.Number, number uint64, value []byte)) {
	t.Helper()
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(field, kind, message[max(n, 0):])
		if n < 0 || size < 0 {
			t.Fatal("the message is damaged")
		}
		message = message[n:]
		var number uint64
		var value []byte
		switch kind {
		case protowire.VarintType:
			number, _ = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			value, _ = protowire.ConsumeBytes(message)
		}
		do(field, number, value)
		message = message[size:]
	}
}
