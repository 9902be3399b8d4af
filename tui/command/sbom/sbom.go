// Package sbom makes a software bill of materials of a pgrlab binary: a CycloneDX 1.6 document in
// JSON, from what the Go tool recorded in the binary and from package licence.
//
// The document has neither a serial number nor the time at which it was written, so that a binary
// has one document. Properties and checksums of modules are written as cyclonedx-gomod writes them.
package sbom

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"

	"pgrlab/tui/command/licence"
)

// A Binary is what a document describes.
type Binary struct {
	Version string // of pgrlab
	Info    *debug.BuildInfo
	Bytes   []byte // the file
	Physics Physics
}

// Physics is MuJoCo's WebAssembly module, which may be a part of the binary.
type Physics struct {
	Version string
	SHA256  string // of the module, in hexadecimal
	Size    int    // of the module, in bytes; 0 if unknown
}

// A Document is a CycloneDX document. Its fields are those of the specification that are used.
type Document struct {
	Schema       string       `json:"$schema"`
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"` // of the document
	Metadata     Metadata     `json:"metadata"`
	Components   []Component  `json:"components"`
	Dependencies []Dependency `json:"dependencies"`
}

// Metadata says what a document is about.
type Metadata struct {
	Timestamp string    `json:"timestamp,omitempty"` // that of the commit
	Component Component `json:"component"`
}

// A Component is a binary or a part of one.
type Component struct {
	Ref        string      `json:"bom-ref"`
	Type       string      `json:"type"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"`
	Hashes     []Hash      `json:"hashes,omitempty"`
	Licences   []Licence   `json:"licenses,omitempty"`
	PURL       string      `json:"purl,omitempty"`
	Components []Component `json:"components,omitempty"`
	Properties []Property  `json:"properties,omitempty"`
}

// A Hash is a checksum.
type Hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// A Licence is an SPDX expression.
type Licence struct {
	Expression string `json:"expression"`
}

// A Property is a fact for which the specification has no field.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Dependency says which components a component needs.
type Dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// Of describes a binary.
func Of(b Binary) (*Document, error) {
	parts, err := licence.Parts()
	if err != nil {
		return nil, err
	}
	main := program(b, parts[0])
	all := []Component{toolchain(b.Info, parts)}
	for _, m := range b.Info.Deps {
		all = append(all, module(m, parts))
	}
	if Contains(b.Bytes, b.Physics) {
		all = append(all, physics(b.Physics, parts))
	}
	d := &Document{
		Schema:    "http://cyclonedx.org/schema/bom-1.6.schema.json",
		BOMFormat: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   Metadata{Timestamp: Setting(b.Info, "vcs.time"), Component: main},
		Components: all,
	}
	needs := Dependency{Ref: main.Ref}
	for _, c := range all {
		needs.DependsOn = append(needs.DependsOn, c.Ref)
	}
	d.Dependencies = append(d.Dependencies, needs)
	return d, nil
}

// Setting is the value of a setting of the build, such as GOOS or vcs.revision, "" if it was not
// recorded.
func Setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

func program(b Binary, own licence.Part) Component {
	c := Component{
		Ref: "pgrlab", Type: "application", Name: own.Name, Version: b.Version,
		Hashes:   []Hash{{"SHA-256", sum(b.Bytes)}},
		Licences: []Licence{{own.Licence}},
		PURL:     "pkg:generic/pgrlab@" + url.PathEscape(b.Version),
	}
	for _, s := range b.Info.Settings {
		switch {
		case s.Key == "-tags":
			c.Properties = append(c.Properties, Property{"cdx:gomod:build:tag", s.Value})
		case strings.HasPrefix(s.Key, "vcs"):
			c.Properties = append(c.Properties, Property{"cdx:gomod:build:" + s.Key, s.Value})
		case s.Value != "" && !strings.HasPrefix(s.Key, "-"):
			c.Properties = append(c.Properties, Property{"cdx:gomod:build:env:" + s.Key, s.Value})
		}
	}
	return c
}

func toolchain(info *debug.BuildInfo, parts []licence.Part) Component {
	version := strings.TrimPrefix(info.GoVersion, "go")
	purl := "pkg:golang/std@" + version
	return Component{Ref: purl, Type: "library", Name: "std", Version: version, PURL: purl, Licences: find(parts, "Go runtime and standard library")}
}

func module(m *debug.Module, parts []licence.Part) Component {
	m = cmp.Or(m.Replace, m)
	purl := "pkg:golang/" + m.Path + "@" + url.PathEscape(m.Version)
	c := Component{Ref: purl, Type: "library", Name: m.Path, Version: m.Version, PURL: purl, Licences: find(parts, m.Path)}
	if h1, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(h1) == sha256.Size {
		c.Hashes = []Hash{{"SHA-256", hex.EncodeToString(h1)}}
	}
	return c
}

// physics is MuJoCo with the libraries inside it. Its checksum is that of the module.
func physics(p Physics, parts []licence.Part) Component {
	purl := "pkg:npm/%40mujoco/mujoco@" + p.Version
	c := Component{Ref: purl, Type: "library", Name: "@mujoco/mujoco", Version: p.Version, PURL: purl,
		Hashes: []Hash{{"SHA-256", p.SHA256}}, Licences: find(parts, "MuJoCo"),
		Properties: []Property{{"pgrlab:file", "mujoco.wasm"}}}
	for _, inside := range parts {
		if inside.In == "MuJoCo" {
			c.Components = append(c.Components, Component{
				Ref: purl + "#" + url.PathEscape(inside.Name), Type: "library", Name: inside.Name, Version: inside.Version,
				Licences: []Licence{{inside.Licence}},
			})
		}
	}
	return c
}

func find(parts []licence.Part, name string) []Licence {
	for _, p := range parts {
		if p.Name == name {
			return []Licence{{p.Licence}}
		}
	}
	return nil
}

// Contains says whether a file contains the physics, byte for byte.
func Contains(file []byte, p Physics) bool {
	magic := []byte("\x00asm\x01\x00\x00\x00") // each WebAssembly module begins with it
	for p.Size > 0 {
		i := bytes.Index(file, magic)
		if i < 0 || len(file)-i < p.Size {
			break
		}
		if file = file[i:]; sum(file[:p.Size]) == p.SHA256 {
			return true
		}
		file = file[len(magic):]
	}
	return false
}

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
