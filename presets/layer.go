package presets

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"pgrlab/core/lab"
)

//go:embed data
var data embed.FS

// A layer is one TOML document: a configuration that says only what it changes,
// and a line about itself.
type layer struct {
	Doc     string   `toml:"doc"`
	Figure  string   `toml:"figure"`  // of presets: what of the paper it belongs to
	Compare []string `toml:"compare"` // of presets: the other methods of the figure
	// Reported is what was reported of this very run: "returns", "measures" or nothing.
	Reported string `toml:"reported"`
	lab.Config
}

// An Entry is a name with a line about it, for lists.
type Entry struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// The names in the order lists show them; every one has a file of that name.
var (
	methodNames = []string{"sac", "redq", "synther", "pgr-reward", "pgr-return", "pgr-td", "pgr-curiosity",
		"pgr-rnd", "pgr-count", "pgr-noised-icm",
		"redq-curiosity", "synther-curiosity", "per-td", "per-curiosity", "noisynets", "pgr-noisynets", "bootdqn", "pgr-bootdqn",
		"vae", "pgr-vae"}
	scaleNames = []string{"paper", "release", "cpu", "short", "demo"}
)

// Methods are the methods there are.
func Methods() []Entry { return entries("method", methodNames) }

// Scales are the scales there are.
func Scales() []Entry { return entries("scale", scaleNames) }

func entries(axis string, names []string) []Entry {
	all := make([]Entry, len(names))
	for i, name := range names {
		var l layer
		file := axis + "/" + name + ".toml"
		if err := decode(file, read(file), &l); err != nil {
			panic(err) // embedded: TestLayers reads every one
		}
		all[i] = Entry{name, l.Doc}
	}
	return all
}

// read returns an embedded document, "" where there is none.
func read(file string) string {
	b, err := fs.ReadFile(data, path.Join("data", file))
	if err != nil {
		return ""
	}
	return string(b)
}

func known(kind, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	return Unknown(kind, name, names, "pgrlab list "+kind+"s")
}

// family is the part of a method's name that pair and task layers may be
// written for: pgr for pgr-curiosity.
func family(method string) string {
	f, _, _ := strings.Cut(method, "-")
	return f
}
