package agent

import (
	"image"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
)

// remembering is the pane of a run with a memory, whose pictures show a ground of 10 by 10 on their
// right half.
func remembering(profile termenv.Profile, m *event.Memory) *Pane {
	about := &pane.About{
		Draw:   func(_ []float64, w, h int) (*image.RGBA, error) { return image.NewRGBA(image.Rect(0, 0, w, h)), nil },
		Ground: func(w, h int) (image.Rectangle, float64) { return image.Rect(w-h, 0, w, h), 10 },
	}
	p := New(&pane.Run{About: about, Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.Unicode)})
	p.Theme.Renderer.SetColorProfile(profile)
	p.Snap = &event.Snapshot{Episode: 8, Pose: []float64{8}, Moment: &event.Moment{Memory: m, Episode: 7, EpisodeStep: 12, Pose: []float64{7}, Action: []float32{0, 1}}}
	return p
}

func someEntries() *event.Memory {
	return &event.Memory{P90: 0.81, Entries: []event.Remembered{
		{X: 0.5, Y: 0.5, Similarity: 0.95}, {X: 0.6, Y: 0.7, Similarity: 0.21}, {X: 9.5, Y: 9.5, Similarity: 0}, {X: math.NaN(), Y: math.NaN(), Similarity: 1}, {X: 5.5, Y: 2.5, Similarity: 0.5},
	}}
}

// Entries are drawn where they were met, in the colours of the ramp or, without colours, as digits.
// Of two entries in one place the more similar one is visible.
func TestEntriesOnTheGround(t *testing.T) {
	p := remembering(termenv.TrueColor, someEntries())
	img, _ := p.About.Draw(nil, 30, 20)
	p.remembered(img, 30, 10, picture.On(picture.TrueColour))
	for at, share := range map[image.Point]float64{{10 + 1, 1}: 0.95, {10 + 19, 19}: 0, {10 + 11, 5}: 0.5} {
		if got := img.RGBAAt(at.X, at.Y); got != theme.RampAt(share) {
			t.Errorf("%v is %v, want %v", at, got, theme.RampAt(share))
		}
	}
	n := 0
	for i := 3; i < len(img.Pix); i += 4 {
		n += int(img.Pix[i]) / 255
	}
	if n != 3 {
		t.Errorf("%d pixels are painted, want 3", n)
	}

	img, _ = p.About.Draw(nil, 30, 20)
	lines := p.remembered(img, 30, 10, picture.On(picture.ASCII))
	var digits []string
	for y, line := range lines {
		for x, c := range line {
			if c != ' ' {
				digits = append(digits, string(c)+":"+image.Pt(x, y).String())
			}
		}
	}
	if got, want := strings.Join(digits, " "), "9:(11,0) 5:(21,2) 0:(29,9)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The drawn pose and the numbers belong to the moment at which the memory was read. The text says
// what the marks mean, and what cannot be shown.
func TestFactsOfAMemory(t *testing.T) {
	for name, c := range map[string]struct {
		profile termenv.Profile
		memory  *event.Memory
		want    []string
		not     string
	}{
		"colours":   {termenv.TrueColor, someEntries(), []string{"episode  7 step 12", "memory   5 observations", "P90      0.810 of similarity", "1 saved without place", "similar  0 ██████████ 1"}, "tenths"},
		"none":      {termenv.Ascii, someEntries(), []string{"0..9 in tenths"}, "similar  0 █"},
		"unknown":   {termenv.TrueColor, &event.Memory{P90: math.NaN(), Unknown: "nothing is remembered yet"}, []string{"memory   nothing is", "         remembered yet"}, "P90"},
		"empty":     {termenv.TrueColor, &event.Memory{P90: math.NaN()}, []string{"memory   0 observations", "P90      -"}, "similar  "},
		"no memory": {termenv.TrueColor, nil, []string{"episode  8 step 0"}, "memory"},
	} {
		p := remembering(c.profile, c.memory)
		var lines []string
		for _, line := range p.Body(100, 20) {
			lines = append(lines, ansi.Strip(line))
		}
		text := strings.Join(lines, "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		if strings.Contains(text, c.not) {
			t.Errorf("%s: %q in\n%s", name, c.not, text)
		}
		if got, want := p.pose()[0] == 7, c.memory != nil; got != want {
			t.Errorf("%s: the pose is %v", name, p.pose())
		}
	}
}

// Where frames are seen, the newest one stands beside the map, which has the trail and the entries.
// Without a pose, or without a map, the frames have all of the picture.
func TestAFrameBesideTheMap(t *testing.T) {
	p := remembering(termenv.TrueColor, someEntries())
	now := p.Snap.Moment
	now.Side, now.Seen = 2, [][]byte{make([]byte, 12), {200, 0, 0, 200, 0, 0, 200, 0, 0, 200, 0, 0}}
	img, _ := p.About.Draw(nil, 50, 20)
	p.seenBeside(img)
	p.remembered(img, 50, 10, picture.On(picture.TrueColour))
	for at, want := range map[image.Point]uint8{{15, 0}: 200, {5, 0}: 200, {24, 19}: 200, {4, 10}: 0, {25, 10}: 0} { // 30 by 20 pixels beside the map
		if got := img.RGBAAt(at.X, at.Y); got.R != want || got.G != 0 {
			t.Errorf("%v is %v, want red %d", at, got, want)
		}
	}
	if got := img.RGBAAt(31, 1); got != theme.RampAt(0.95) {
		t.Errorf("an entry is %v", got)
	}
	if facts := strings.Join(p.memoryFacts(), "\n"); !p.mapped() || !strings.Contains(ansi.Strip(facts), "similar ") {
		t.Errorf("mapped %v, facts %q", p.mapped(), facts)
	}
	now.Pose = nil
	if facts := strings.Join(p.memoryFacts(), "\n"); p.mapped() || strings.Contains(ansi.Strip(facts), "similar ") {
		t.Errorf("without a pose: mapped %v, facts %q", p.mapped(), facts)
	}
}
