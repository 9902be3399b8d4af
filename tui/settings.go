package tui

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/run"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/theme"
)

// Settings are a person's preferences for every run: they come from a file and outlive the screen.
type Settings struct {
	Theme    string              `toml:"theme" comment:"auto, dark or light"`
	Glyphs   string              `toml:"glyphs" comment:"auto, unicode, console or ascii"`
	Pictures string              `toml:"pictures" comment:"what frames and scenes are drawn with: auto (what the terminal answers that it shows), kitty, sixel or blocks"`
	Layout   string              `toml:"layout" comment:"focus, full or present"`
	Charts   string              `toml:"charts" comment:"what draws the charts' lines: lines, or braille (2 by 4 dots a character; not every font has them)"`
	Axis     string              `toml:"axis" comment:"what the charts count: steps, updates or wall"`
	Refresh  float64             `toml:"refresh" comment:"looks at the run per second, 0.2 to 10"`
	Mouse    bool                `toml:"mouse" comment:"take the mouse from the start; M toggles it"`
	Keys     map[string][]string `toml:"keys,omitempty" comment:"other keys for a command of the palette, as undo = [\"u\"]"`
	Profile  map[string]Profile  `toml:"profile,omitempty" comment:"what a cluster needs, for sweep --profile NAME, as sbatch = [\"--partition=gpu\"]"`
}

// Profile is what a cluster requires of those who submit jobs to it.
type Profile struct {
	Sbatch []string `toml:"sbatch" comment:"options of sbatch, each in one word"`
}

// DefaultSettings are the settings of a person without a file.
func DefaultSettings() Settings {
	return Settings{Theme: "auto", Glyphs: "auto", Pictures: PictureChoices[0], Layout: focusView.String(), Charts: charts.ChartStyles[0], Axis: charts.AxisSteps.String(), Refresh: 5}
}

// memory is what the screen itself remembers between runs.
type memory struct {
	home     string   // "": nothing is kept
	unkept   bool     // the file lacks what was learnt last
	Used     []string `toml:"used"`     // hints that are no longer needed
	Commands []string `toml:"commands"` // those given in the palette, newest last
	Tasks    []string `toml:"tasks"`    // tasks of one's own named on the first screen, newest last
}

// Knows says whether a hint was used.
func (m *memory) Knows(hint string) bool { return slices.Contains(m.Used, hint) }

// Learn notes that a hint was used.
func (m *memory) Learn(hint string) {
	m.change(func() { m.Used = newest(m.Used, hint, rememberedHints) })
}

// Named are the tasks of one's own that were named on the first screen, the newest last.
func (m *memory) Named() []string { return m.Tasks }

// Remember adds a task of one's own.
func (m *memory) Remember(name string) {
	m.change(func() { m.Tasks = newest(m.Tasks, name, rememberedTasks) })
}

// newest adds a text to the end of texts, of which it was perhaps one, and keeps the last ones.
func newest(texts []string, text string, most int) []string {
	kept := append(slices.DeleteFunc(slices.Clone(texts), func(c string) bool { return c == text }), text)
	return kept[max(0, len(kept)-most):]
}

// change adds to the memory that is in the file, where other screens may have added something since. A
// file that cannot be read or written is no reason to disturb a run.
func (m *memory) change(how func()) {
	if m.home == "" {
		how()
		return
	}
	if !m.unkept {
		if there := (&memory{home: m.home}); there.read() == nil {
			*m = *there
		}
	}
	how()
	m.unkept = writeTOML(filepath.Join(m.home, rememberedFile), m) != nil
}

func (m *memory) read() error { return readTOML(filepath.Join(m.home, rememberedFile), m) }

// How many hints, commands of the palette, and tasks of one's own are kept.
const (
	rememberedHints    = 100
	rememberedCommands = 100
	rememberedTasks    = 20
)

// Home is the folder of the user's settings, "" if the system has none.
func Home() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "pgrlab")
}

const (
	settingsFile   = "settings.toml"
	rememberedFile = "remembered.toml"
)

// LoadSettings reads the settings of a folder; a missing file means the defaults. For an unknown or
// wrong setting the error names file and line.
func LoadSettings(dir string) (Settings, error) {
	s := DefaultSettings()
	err := readTOML(filepath.Join(dir, settingsFile), &s)
	if err == nil {
		err = s.validate()
	}
	if err != nil {
		return DefaultSettings(), fmt.Errorf("read settings %s: %w", filepath.Join(dir, settingsFile), err)
	}
	return s, nil
}

func (s Settings) validate() error {
	for _, c := range []struct {
		name, value string
		allowed     []string
	}{
		{"theme", s.Theme, []string{"auto", "dark", "light"}},
		{"glyphs", s.Glyphs, []string{"auto", "unicode", "console", "ascii"}},
		{"pictures", s.Pictures, PictureChoices},
		{"layout", s.Layout, viewNames[:]},
		{"axis", s.Axis, charts.AxisNames[:]},
		{"charts", s.Charts, charts.ChartStyles},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return fmt.Errorf("%s is %q: want one of %s", c.name, c.value, strings.Join(c.allowed, ", "))
		}
	}
	if !(s.Refresh >= 0.2 && s.Refresh <= 10) {
		return fmt.Errorf("refresh is %g: want 0.2 to 10", s.Refresh)
	}
	_, err := rebind(assemble(&pane.Run{}, s).keysTable(), s.Keys)
	return err
}

// SaveSettings writes the settings, each with a short explanation.
func SaveSettings(dir string, s Settings) error {
	return writeTOML(filepath.Join(dir, settingsFile), s)
}

func loadMemory(home string) *memory {
	m := &memory{home: home}
	if home != "" {
		_ = m.read() // nothing depends on the result
	}
	return m
}

// maxSettings is more bytes than a file of settings has.
const maxSettings = 1 << 20

func readTOML(path string, into any) error {
	doc, err := run.ReadNamed(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	doc = bytes.TrimPrefix(doc, []byte("\ufeff")) // a byte order mark, with which some editors begin a file
	d := toml.NewDecoder(bytes.NewReader(doc)).DisallowUnknownFields()
	err = d.Decode(into)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: there is no setting %s", row, strings.Join(strict.Errors[0].Key(), "."))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		row, _ := wrong.Position()
		return fmt.Errorf("line %d: %w", row, err)
	}
	return err
}

// written counts the files written by this process.
var written atomic.Int64

// writeTOML replaces a file in one step, so that two screens that write leave one whole file.
func writeTOML(path string, v any) error {
	doc, err := toml.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d-%d", path, os.Getpid(), written.Add(1)) // several screens may live in one process
	if err = os.WriteFile(temporary, doc, 0o644); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

// applySettings applies the colours and glyphs of the settings.
func (m *Model) applySettings() {
	switch m.settings.Glyphs {
	case "ascii":
		m.options.Characters = theme.ASCII
	case "console":
		m.options.Characters = theme.Console
	case "unicode":
		m.options.Characters = theme.Unicode
	}
	m.Theme.Set = m.options.Characters
	m.retheme()
}

// retheme applies the colours of the settings' theme.
func (m *Model) retheme() {
	r := m.Theme.Renderer
	switch m.settings.Theme {
	case "dark":
		r.SetHasDarkBackground(true)
	case "light":
		r.SetHasDarkBackground(false)
	default:
		r.SetHasDarkBackground(theme.DarkBackground(m.environ.Getenv("COLORFGBG")))
	}
	inks := theme.New
	if m.Projected {
		inks = theme.Projected
	}
	*m.Theme = *inks(r, m.Theme.Set)
	m.charts.StyleCharts()
	m.Relayout()
}
