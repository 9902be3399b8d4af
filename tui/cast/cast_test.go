package cast_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgrlab/tui/cast"
	"pgrlab/tui/command"
	"pgrlab/tui/history"
	"pgrlab/tui/testing/commandtest"
)

// A terminal that is given what a cast holds shows each frame at its time, to the last column and without
// rests of the frame before.
func TestATerminalShowsTheFrames(t *testing.T) {
	frames := []string{
		"one  \x1b[1mtwo\x1b[0m\nthree   \nfour",
		"one  \x1b[1mtwo\x1b[0m\nthree   \nfour", // as before: nothing is written
		"\x1b[38;2;1;2;3mo\x1b[0m\nabcdefgh\n",
		"\"<&>\" é\nabcdefgh\n12345678",
	}
	var out bytes.Buffer
	c, err := cast.NewWriter(&out, cast.Header{8, 3, "t & <u>", time.Unix(1700000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		if err := c.Frame(time.Duration(i)*200*time.Millisecond, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.End(3 * time.Second); err != nil {
		t.Fatal(err)
	}
	head, events, err := readCast(&out)
	if err != nil || head.Title != "t & <u>" || head.Timestamp != 1700000000 {
		t.Fatalf("%+v, %v", head, err)
	}
	if len(events) != 4 {
		t.Fatalf("%d events", len(events))
	}
	screen := make([]string, head.Height)
	for i, at := range []int{0, 2, 3} {
		if fmt.Sprintf("%.3f", events[i].Time) != fmt.Sprintf("%.3f", 0.2*float64(at)) {
			t.Errorf("frame %d is shown at %v", at, events[i].Time)
		}
		if err := show(screen, head.Width, events[i].Data); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(screen, "\n"), plain(frames[at]); trimmed(got) != trimmed(want) {
			t.Errorf("frame %d: %q, want %q", at, got, want)
		}
	}
	if events[3].Time != 3 || events[3].Data != "\x1b[?25h" {
		t.Errorf("it ends with %+v", events[3])
	}
}

// The cast of a run begins with its first screen, ends with that of its end, takes as long as the run did
// divided by the speed, and is the same each time.
func TestTheCastOfARun(t *testing.T) {
	var before []byte
	for range 2 {
		path := filepath.Join(t.TempDir(), "demo.cast")
		var said strings.Builder
		args := []string{"replay", "../../docs/demo", "--cast", path, "--speed", "50", "--size", "100x30"}
		if status := command.Main(context.Background(), commandtest.Deps(), args, strings.NewReader(""), &said, &said); status != 0 {
			t.Fatalf("status %d: %s", status, &said)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(text, before) {
			t.Error("it is another one each time")
		}
		before = text
	}
	head, events, err := readCast(bytes.NewBuffer(before))
	if err != nil || head.Width != 100 || head.Height != 30 || head.Title != "pgrlab: cheetah-run, pgr-curiosity" {
		t.Fatalf("%+v, %v", head, err)
	}
	screen := make([]string, head.Height)
	for i, e := range events {
		if err := show(screen, head.Width, e.Data); err != nil {
			t.Fatalf("at %v: %v", e.Time, err)
		}
		if i == 0 && (e.Time != 0 || !strings.Contains(screen[0], "0/30,000")) {
			t.Errorf("it begins at %v with %q", e.Time, screen[0])
		}
	}
	of, err := history.ReadJournal("../../docs/demo")
	if err != nil {
		t.Fatal(err)
	}
	takes := of[len(of)-1].Wall.Sub(of[0].Wall).Seconds()/50 + 3 // it stands for 3 s
	last := events[len(events)-1].Time
	if all := strings.Join(screen, "\n"); len(events) < 10 || !strings.Contains(screen[0], "DONE") || !strings.Contains(all, "403 ± 29 over 10 episodes") || last < takes-0.5 || last > takes+0.5 {
		t.Errorf("%d events, the last at %v:\n%s", len(events), last, all)
	}
}

func TestACastThatCannotBeWritten(t *testing.T) {
	c, err := cast.NewWriter(full{}, cast.Header{})
	if err == nil || !strings.Contains(err.Error(), "write cast: ") {
		t.Errorf("%v", err)
	}
	if err := c.Frame(0, "x"); err == nil {
		t.Error("a frame is written")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// header and output are what a cast holds, as its specification defines them.
type header struct {
	Version, Width, Height int
	Timestamp              int64
	Title                  string
	Env                    map[string]string
}

type output struct {
	Time float64
	Data string
}

// readCast reads a cast, and returns an error if it breaks a rule of the format.
func readCast(r *bytes.Buffer) (head header, all []output, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	if !lines.Scan() {
		return head, nil, errors.New("there is no header")
	}
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		return head, nil, fmt.Errorf("header: %w", err)
	}
	if head.Version != 2 || head.Width < 1 || head.Height < 1 {
		return head, nil, fmt.Errorf("header: %+v", head)
	}
	for lines.Scan() {
		var fields []any
		if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
			return head, nil, err
		}
		if len(fields) != 3 || fields[1] != "o" {
			return head, nil, fmt.Errorf("an event %v", fields)
		}
		at, isTime := fields[0].(float64)
		data, isText := fields[2].(string)
		if !isTime || !isText || len(all) > 0 && at < all[len(all)-1].Time {
			return head, nil, fmt.Errorf("event %v after %v", fields, all)
		}
		all = append(all, output{at, data})
	}
	return head, all, lines.Err()
}

var (
	control = regexp.MustCompile(`^\x1b\[([0-9;?]*)([a-zA-Z])`)
	styled  = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

func plain(frame string) string { return styled.ReplaceAllString(frame, "") }

func trimmed(frame string) string {
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(frame, "")
}

// show changes the lines of a screen as a terminal of so many columns does that is given data.
func show(screen []string, width int, data string) error {
	row, column := 0, 0
	for len(data) > 0 {
		if m := control.FindStringSubmatch(data); m != nil {
			data = data[len(m[0]):]
			switch m[2] {
			case "H":
				if _, err := fmt.Sscanf(m[1], "%d;%d", &row, &column); err != nil || row < 1 || row > len(screen) || column != 1 {
					return fmt.Errorf("the cursor goes to %s", m[1])
				}
				row, column = row-1, 0
			case "J":
				clear(screen)
			case "K":
				if m[1] != "2" {
					return fmt.Errorf("erase %q", m[1])
				}
				screen[row] = ""
			case "h", "l", "m":
			default:
				return fmt.Errorf("the sequence %q", m[0])
			}
			continue
		}
		r := []rune(data)[0]
		if column++; column > width {
			return fmt.Errorf("line %d is wider than %d columns", row+1, width)
		}
		screen[row] += string(r)
		data = data[len(string(r)):]
	}
	return nil
}
