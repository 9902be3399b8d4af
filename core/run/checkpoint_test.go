package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/version"
)

func sample(step int, position string) *Checkpoint {
	r := Float(step)
	c := &Checkpoint{Header: Header{Program: "test", Step: step, Position: position, Return: &r, Journal: EmptyMark()}}
	c.Sections = []Section{{"loop", []byte("the loop")}, {"0/agent", bytes.Repeat([]byte("weights "), 1000)}, {"empty", nil}}
	return c
}

func encoded(t testing.TB, c *Checkpoint) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := c.WriteTo(&b); err != nil || n < 100 {
		t.Fatal(n, err)
	}
	return b.Bytes()
}

func TestACheckpointReadsBack(t *testing.T) {
	text := encoded(t, sample(20, "20/fit:3"))
	h, err := ReadHeader(bytes.NewReader(text))
	if err != nil || h.Position != "20/fit:3" || len(h.Sections) != 3 {
		t.Fatalf("%+v, %v", h, err)
	}
	c, err := ReadCheckpoint(bytes.NewReader(text), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range sample(20, "20/fit:3").Sections {
		if got, ok := c.Section(want.Name); !ok || !bytes.Equal(got, want.Content) {
			t.Errorf("%s: %d bytes, want %d", want.Name, len(got), len(want.Content))
		}
	}
	if len(text) > 2000 {
		t.Errorf("%d bytes: nothing was compressed", len(text))
	}
}

// A checkpoint with one wrong bit or one missing byte is refused.
func TestADamagedCheckpointIsRefused(t *testing.T) {
	good := encoded(t, sample(20, "20"))
	whole, err := ReadCheckpoint(bytes.NewReader(good), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	head := preamble + int(binary.LittleEndian.Uint32(good[len(checkpointMagic)+4:])) + sha256.Size
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		c, err := ReadCheckpoint(bytes.NewReader(bad), 1<<30)
		if err == nil && (i < head || !reflect.DeepEqual(c, whole)) { // after the header there are bits that mean nothing, as the level of a zstd frame
			t.Errorf("a bit of byte %d flipped: %+v", i, c.Header)
		}
		if _, err := ReadCheckpoint(bytes.NewReader(good[:i]), 1<<30); err == nil || strings.Contains(err.Error(), "EOF") {
			t.Errorf("%d of %d bytes: %v", i, len(good), err)
		}
	}
	if _, err := ReadCheckpoint(bytes.NewReader(append(slices.Clone(good), 1)), 1<<30); err == nil {
		t.Error("a byte after the end is no damage")
	}
	for format, want := range map[uint32]error{FormatVersion + 1: ErrNewer, FormatVersion - 1: version.ErrOther} {
		other := slices.Clone(good)
		binary.LittleEndian.PutUint32(other[len(checkpointMagic):], format)
		sum := sha256.Sum256(other[:head-sha256.Size])
		copy(other[head-sha256.Size:], sum[:])
		if _, err := ReadHeader(bytes.NewReader(other)); !errors.Is(err, want) {
			t.Errorf("format %d: %v", format, err)
		}
	}
}

func FuzzReadCheckpoint(f *testing.F) {
	good := encoded(f, sample(20, "20/fit:3"))
	f.Add(good)
	f.Add(good[:40])
	f.Add([]byte(checkpointMagic))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ReadCheckpoint(bytes.NewReader(text), 1<<30)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		again, err := ReadCheckpoint(bytes.NewReader(encoded(t, c)), 1<<30)
		if err != nil || again.Position != c.Position {
			t.Errorf("%v", err)
		}
	})
}

// A header with a correct checksum may still contain anything.
func FuzzHeader(f *testing.F) {
	good := encoded(f, sample(20, "20/fit:3"))
	size := int(binary.LittleEndian.Uint32(good[len(checkpointMagic)+4:]))
	f.Add(good[preamble:preamble+size], good[preamble+size+sha256.Size:])
	f.Add([]byte(`{"sections":[{"name":"loop","bytes":-1},{"bytes":9223372036854775807}],"data":[{"pieces":[{"file":"../x","bytes":1}]}]}`), []byte{})
	f.Fuzz(func(t *testing.T, header, body []byte) {
		text := binary.LittleEndian.AppendUint32([]byte(checkpointMagic), FormatVersion)
		text = append(binary.LittleEndian.AppendUint32(text, uint32(len(header))), header...)
		sum := sha256.Sum256(text)
		text = append(text, sum[:]...)
		h, err := ReadHeader(bytes.NewReader(text))
		c, whole := ReadCheckpoint(bytes.NewReader(append(text, body...)), 1<<30)
		if (err != nil || whole != nil) && strings.Contains(fmt.Sprint(err, whole), "\n") {
			t.Errorf("more than a line: %q, %q", err, whole)
		}
		if err != nil && whole == nil {
			t.Errorf("a checkpoint without a header: %v", err)
		}
		dir := t.TempDir()
		for _, d := range h.Data {
			if d.Verify(dir) == nil && len(d.Pieces) > 0 {
				t.Errorf("%+v is in an empty folder", d)
			}
		}
		if whole == nil && len(c.Sections) != len(h.Sections) {
			t.Errorf("%d sections of %d", len(c.Sections), len(h.Sections))
		}
	})
}

func TestNamesSortAsPositionsDo(t *testing.T) {
	var names []string
	for _, p := range []string{"9", "20/score:0", "20/fit:2", "20/fit:10", "20/generate:1", "20/evaluate:25", "20/analyse:1", "20", "21/score:4096"} {
		var step int
		fmt.Sscan(p, &step)
		names = append(names, CheckpointName(step, p))
	}
	if !slices.IsSorted(names) || !slices.IsSortedFunc(names, inOrder) {
		t.Errorf("%q", names)
	}
}

// Checkpoints are ordered by their positions, even beyond the digits to which names are padded and
// under whatever names a person has given them, when they are listed, set aside and pruned.
func TestCheckpointsAreInTheOrderOfTheirPositions(t *testing.T) {
	positions := []string{
		"7", "999999998/fit:3", "999999999/fit:9999999", "999999999/fit:10000000", "999999999", "1000000000/score:0", "1000000000/fit:0",
		"1000000000", "1000000001", "9999999999", "10000000000/evaluate:25", "10000000000", "123456789012345",
	}
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var paths []string
	for i, p := range positions {
		var step int
		fmt.Sscan(p, &step)
		c := sample(step, p)
		c.Return = nil
		path, _, err := f.WriteCheckpoint(c)
		if err != nil {
			t.Fatal(err)
		}
		if paths = append(paths, path); i > 0 && (inOrder(filepath.Base(paths[i-1]), filepath.Base(path)) >= 0 || inOrder(filepath.Base(path), filepath.Base(paths[i-1])) <= 0) {
			t.Errorf("%s is not before %s", paths[i-1], path)
		}
	}
	for i, j := range map[int]int{0: 12, 3: 9} { // their files are exchanged
		if err := errors.Join(os.Rename(paths[i], paths[i]+"-"), os.Rename(paths[j], paths[i]), os.Rename(paths[i]+"-", paths[j])); err != nil {
			t.Fatal(err)
		}
	}
	listed := func() (all []string) {
		found, err := Checkpoints(f.Dir())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range slices.Backward(found) {
			all = append(all, c.Position)
		}
		return all
	}
	if got := listed(); !slices.Equal(got, positions) {
		t.Errorf("listed %q, want %q", got, positions)
	}
	aside, err := f.SetAside(paths[9])
	if err != nil || aside == "" {
		t.Fatal(aside, err)
	}
	if got := listed(); !slices.Equal(got, positions[:10]) {
		t.Errorf("after setting aside %q, want %q", got, positions[:10])
	}
	if _, err := f.Prune(paths[7], 0); err != nil {
		t.Fatal(err)
	}
	if got := listed(); !slices.Equal(got, positions[5:10]) {
		t.Errorf("after pruning up to %s: %q, want %q", positions[7], got, positions[5:10])
	}
}

// Of many checkpoints the last three, the best and the marked one stay, with the data that they
// refer to.
func TestPrune(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var latest string
	for step := 1; step <= 8; step++ {
		c := sample(step, fmt.Sprint(step))
		if step == 3 {
			*c.Return = 100
		}
		p, err := f.WriteData("synthetic", func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "rows of step %d", (step+1)/2)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Data = []Data{{"0/synthetic", []Piece{p}}}
		if latest, _, err = f.WriteCheckpoint(c); err != nil {
			t.Fatal(err)
		}
		if step == 2 {
			if err := Keep(latest, "a fork"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Prune(latest, 0); err != nil {
			t.Fatal(err)
		}
	}
	steps := func() (s []int) {
		all, err := Checkpoints(f.Dir())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			s = append(s, c.Step)
			for _, d := range c.Data {
				if err := d.Verify(f.Dir()); err != nil {
					t.Errorf("step %d: %v", c.Step, err)
				}
			}
		}
		return s
	}
	if got := fmt.Sprint(steps()); got != "[8 7 6 3 2]" {
		t.Errorf("checkpoints of steps %s", got)
	}
	if files, _ := filepath.Glob(f.Path(DataName + "/*")); len(files) != 4 { // data of steps 1-2, 3-4, 5-6, 7-8
		t.Errorf("data %q", files)
	}
	whole, err := f.stored()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := f.Prune(latest, whole); err != nil || p.Last != 3 || p.String() != "" {
		t.Errorf("with room for all, %+v, %v", p, err)
	}
	p, err := f.Prune(latest, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p.Last != 1 || !p.Over() || !strings.HasSuffix(p.String(), "only the latest checkpoint stays because of it (--disk)") || !strings.HasPrefix(p.String(), "the limit of 0.0 MiB is exceeded") {
		t.Errorf("%+v: %q", p, p)
	}
	if p, err = f.Prune(latest, 1); err != nil || p.Last != 3 || !p.Over() { // nothing more is removed, and it is still too much
		t.Errorf("%+v, %v", p, err)
	}
	if got := fmt.Sprint(steps()); got != "[8 2]" {
		t.Errorf("with no room, checkpoints of steps %s", got)
	}
}
