package sbom

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// A shape is what the schema of CycloneDX 1.6 says about an object, as far as documents use it: the
// fields that it must have, those that it may have, and the values that fields are limited to. The
// schema forbids other fields.
type shape struct {
	must, may string
	values    map[string]*regexp.Regexp
}

var shapes = map[string]shape{
	"document":     {must: "bomFormat specVersion", may: "$schema version metadata components dependencies", values: map[string]*regexp.Regexp{"bomFormat": regexp.MustCompile(`^CycloneDX$`), "specVersion": regexp.MustCompile(`^1\.6$`), "version": regexp.MustCompile(`^[1-9][0-9]*$`), "$schema": regexp.MustCompile(`^http://cyclonedx\.org/schema/bom-1\.6\.schema\.json$`)}},
	"metadata":     {may: "timestamp component"},
	"component":    {must: "type name", may: "bom-ref version hashes licenses purl components properties", values: map[string]*regexp.Regexp{"type": regexp.MustCompile(`^(application|library)$`), "purl": regexp.MustCompile(`^pkg:(golang|npm|generic)/[A-Za-z0-9%~._/-]+@[A-Za-z0-9%~+._-]+$`), "bom-ref": regexp.MustCompile(`.`)}},
	"hashes":       {must: "alg content", values: map[string]*regexp.Regexp{"alg": regexp.MustCompile(`^SHA-256$`), "content": regexp.MustCompile(`^[0-9a-f]{64}$`)}},
	"licenses":     {must: "expression", values: map[string]*regexp.Regexp{"expression": regexp.MustCompile(`^[A-Za-z0-9.-]+( (AND|OR|WITH) [A-Za-z0-9.-]+)*$`)}},
	"properties":   {must: "name", may: "value"},
	"dependencies": {must: "ref", may: "dependsOn"},
}

// checked checks an object and what is in it, and adds the bom-ref of each component.
func checked(t *testing.T, where, kind string, object map[string]any, refs *[]string) {
	t.Helper()
	s := shapes[kind]
	for _, key := range strings.Fields(s.must) {
		if _, has := object[key]; !has {
			t.Errorf("%s has no %s", where, key)
		}
	}
	for key, value := range object {
		if !slices.Contains(strings.Fields(s.must+" "+s.may), key) {
			t.Errorf("%s has %s", where, key)
		}
		if want := s.values[key]; want != nil && !want.MatchString(fmt.Sprint(value)) {
			t.Errorf("%s: %s is %v, want %s", where, key, value, want)
		}
		inside := map[string]string{"components": "component", "component": "component", "metadata": "metadata"}[key]
		switch v := value.(type) {
		case map[string]any:
			checked(t, where+"."+key, inside, v, refs)
		case []any:
			for i, each := range v {
				if o, is := each.(map[string]any); is {
					checked(t, fmt.Sprintf("%s.%s[%d]", where, key, i), map[bool]string{true: inside, false: key}[inside != ""], o, refs)
				}
			}
		}
	}
	if kind == "component" {
		*refs = append(*refs, fmt.Sprint(object["bom-ref"]))
	}
}

// built is a binary with two modules, the second replaced by a third, and with a module of
// WebAssembly that is not the physics before the physics.
func built() (Binary, Physics) {
	wasm := []byte("\x00asm\x01\x00\x00\x00 physics")
	p := Physics{Version: "3.14.0", SHA256: fmt.Sprintf("%x", sha256.Sum256(wasm)), Size: len(wasm)}
	info := &debug.BuildInfo{
		GoVersion: "go1.26.1",
		Main:      debug.Module{Path: "pgrlab", Version: "v0.1.0"},
		Deps: []*debug.Module{
			{Path: "github.com/spf13/cobra", Version: "v1.10.2", Sum: "h1:DMTTonx5m65Ic0GOoRY2c16WCbHxOOw6xxezuLaBpcU="},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "github.com/awalterschulze/gographviz", Version: "v2.0.3+incompatible"}},
		},
		Settings: []debug.BuildSetting{{Key: "-tags", Value: "nogpu"}, {Key: "-trimpath", Value: "true"}, {Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}},
	}
	file := slices.Concat([]byte("\x7fELF \x00asm\x01\x00\x00\x00 other, longer than it"), wasm, []byte("end"))
	return Binary{Version: "v0.1.0", Info: info, Bytes: file, Physics: p}, p
}

// A document has the form that the specification requires, and is about what is in the binary.
func TestDocument(t *testing.T) {
	b, p := built()
	d, err := Of(b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	var refs []string
	checked(t, "document", "document", object, &refs)
	for i, ref := range refs {
		if slices.Contains(refs[:i], ref) {
			t.Errorf("two components have the bom-ref %s", ref)
		}
	}
	for _, dep := range d.Dependencies {
		for _, ref := range append([]string{dep.Ref}, dep.DependsOn...) {
			if !slices.Contains(refs, ref) {
				t.Errorf("a dependency names %s, which is no component", ref)
			}
		}
	}
	if at, err := time.Parse(time.RFC3339, d.Metadata.Timestamp); err != nil || at.Year() != 2026 {
		t.Errorf("timestamp %q: %v", d.Metadata.Timestamp, err)
	}
	main := d.Metadata.Component
	if main.Name != "pgrlab" || main.Version != "v0.1.0" || main.Hashes[0].Content != fmt.Sprintf("%x", sha256.Sum256(b.Bytes)) ||
		!slices.Contains(main.Properties, Property{"cdx:gomod:build:tag", "nogpu"}) || !slices.Contains(main.Properties, Property{"cdx:gomod:build:env:GOOS", "linux"}) {
		t.Errorf("the binary is %+v", main)
	}
	var got []string
	for _, c := range d.Components {
		if len(c.Licences) != 1 {
			t.Errorf("%s has the licences %v", c.Name, c.Licences)
		}
		got = append(got, c.PURL)
	}
	if want := []string{"pkg:golang/std@1.26.1", "pkg:golang/github.com/spf13/cobra@v1.10.2", "pkg:golang/github.com/awalterschulze/gographviz@v2.0.3+incompatible", "pkg:npm/%40mujoco/mujoco@3.14.0"}; !slices.Equal(got, want) {
		t.Errorf("components %q, want %q", got, want)
	}
	if sum := d.Components[1].Hashes[0].Content; sum != "0cc4d3a27c799bae4873418ea11636735e9609b1f138ec3ac717b3b8b681a5c5" { // by base64 -d
		t.Errorf("cobra has the sum %s", sum)
	}
	mujoco := d.Components[3]
	if mujoco.Hashes[0].Content != p.SHA256 || len(mujoco.Components) < 8 {
		t.Errorf("the physics is %+v", mujoco)
	}
}

// The physics is a component only where the binary contains it byte for byte.
func TestContains(t *testing.T) {
	b, p := built()
	for name, c := range map[string]struct {
		file []byte
		p    Physics
		want bool
	}{
		"whole":     {b.Bytes, p, true},
		"cut":       {b.Bytes[:len(b.Bytes)-4], p, false},
		"changed":   {[]byte(strings.Replace(string(b.Bytes), "physics", "Physics", 1)), p, false},
		"none":      {[]byte("\x7fELF"), p, false},
		"not known": {b.Bytes, Physics{SHA256: p.SHA256}, false},
	} {
		if got := Contains(c.file, c.p); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	b.Physics.Size = 0
	if d, err := Of(b); err != nil || len(d.Components) != 3 {
		t.Errorf("without physics: %v, %v", d, err)
	}
}
