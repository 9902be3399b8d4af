package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pgrlab/tui/command/licence"
)

// listed is what go list says about a package.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// collect lists this program, Go, and the linked modules, with their licence texts. What is linked
// on Linux includes everything linked elsewhere.
func collect(root string) ([]licence.Part, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", ".")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type module struct {
		part licence.Part
		dir  string
		dirs map[string]bool // folders of linked packages, and those above them in the module
	}
	modules := map[string]*module{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		m := modules[p.Module.Path]
		if m == nil {
			m = &module{part: licence.Part{Name: p.Module.Path, Version: p.Module.Version}, dir: p.Module.Dir, dirs: map[string]bool{}}
			modules[p.Module.Path] = m
		}
		for dir := p.Dir; len(dir) >= len(m.dir); dir = filepath.Dir(dir) {
			m.dirs[dir] = true
		}
	}
	own, err := part("pgrlab", "", root, map[string]bool{root: true})
	if err != nil {
		return nil, err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	dir := strings.TrimSpace(string(goroot))
	runtime, err := part("Go runtime and standard library", "", dir, map[string]bool{dir: true})
	if err != nil {
		return nil, err
	}
	all := []licence.Part{own, runtime}
	var paths []string
	for path := range modules {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		m := modules[path]
		p, err := part(m.part.Name, m.part.Version, m.dir, m.dirs)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// legal matches the names of files that must accompany a work. The GPL, which freetype offers as an
// alternative to its own licence, is not chosen.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|unlicense|ofl|bsd-licen[cs]e|ftl)([.-].*)?$`)

// part reads the texts of a part in its own folder and in dirs below it.
func part(name, version, root string, dirs map[string]bool) (licence.Part, error) {
	p := licence.Part{Name: name, Version: version}
	if sub := filepath.Join(root, "licenses"); isDir(sub) {
		dirs[sub] = true
	}
	var files []string
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return p, err
		}
		for _, e := range entries {
			own := name == "pgrlab" && e.Name() == noticeFile // the notice is made from this list
			if !e.IsDir() && legal.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" && !own {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	slices.Sort(files)
	kinds := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return p, err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return p, err
		}
		p.Texts = append(p.Texts, licence.Text{File: filepath.ToSlash(rel), Text: strings.ReplaceAll(decode(text), "\r\n", "\n")})
		for _, kind := range kindsOf(string(text)) {
			kinds[kind] = true
		}
	}
	var ids []string
	for kind := range kinds {
		ids = append(ids, kind)
	}
	slices.Sort(ids)
	p.Licence = strings.ReplaceAll(strings.Join(ids, " AND "), " AND LLVM", " WITH LLVM")
	if p.Licence == "" {
		return p, fmt.Errorf("%s: its licence is not recognised in %q: teach kindsOf", name, files)
	}
	return p, nil
}

// decode reads text as UTF-8, or as Latin-1 if it is not valid UTF-8.
func decode(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	runes := make([]rune, len(text))
	for i, b := range text {
		runes[i] = rune(b)
	}
	return string(runes)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// marks are phrases that identify licences, with the spacing of a single line.
var marks = []struct{ id, phrase string }{
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"Apache-2.0", "apache license version 2.0"},
	{"LLVM-exception", "llvm exceptions to the apache 2.0 license"},
	{"OFL-1.1", "sil open font license version 1.1"},
	{"FTL", "the freetype project license"},
	{"CC-BY-4.0", "creative commons attribution 4.0 international public license"},
	{"Qhull", "this software includes qhull from"},
	{"Zlib", "the origin of this software must not be misrepresented"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"WTFPL", "do what the fuck you want to public license"},
}

// kindsOf names the licences of a text.
func kindsOf(text string) []string {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	var kinds []string
	for _, m := range marks {
		if strings.Contains(strings.ReplaceAll(words, "license, version", "license version"), m.phrase) {
			kinds = append(kinds, m.id)
		}
	}
	if strings.Contains(words, "redistribution and use in source and binary forms") {
		kind := "BSD-2-Clause"
		if strings.Contains(words, "endorse or promote") {
			kind = "BSD-3-Clause"
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// mujoco is the npm package that the physics comes from.
const mujoco = "node_modules/@mujoco/mujoco"

// ofPhysics are MuJoCo and the libraries in its WebAssembly build: read from a folder, or the
// embedded ones if they have the version that package-lock.json pins.
func ofPhysics(root, dir string) ([]licence.Part, error) {
	doc, err := os.ReadFile(filepath.Join(root, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(doc, &lock); err != nil {
		return nil, err
	}
	version := lock.Packages[mujoco].Version
	if dir != "" {
		return readPhysics(dir, version)
	}
	all, err := licence.Parts()
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		if p.Name == "MuJoCo" {
			if p.Version != version {
				return nil, fmt.Errorf("MuJoCo is %s now, the licences are of %s: see the parts of its build and give -physics DIR", version, p.Version)
			}
			return all[i:], nil
		}
	}
	return nil, errors.New("MuJoCo is not among the licences: give -physics DIR")
}

func readPhysics(dir, version string) ([]licence.Part, error) {
	all := []licence.Part{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, v, _ := strings.Cut(e.Name(), "@")
		folder := filepath.Join(dir, e.Name())
		p, err := part(name, v, folder, map[string]bool{folder: true})
		if err != nil {
			return nil, err
		}
		if name == "MuJoCo" {
			if v != version {
				return nil, fmt.Errorf("%s: package-lock.json has %s", folder, version)
			}
			all = slices.Insert(all, 0, p)
			continue
		}
		p.In = "MuJoCo"
		all = append(all, p)
	}
	if len(all) == 0 || all[0].Name != "MuJoCo" {
		return nil, fmt.Errorf("%s: there is no folder MuJoCo@%s: %w", dir, version, fs.ErrNotExist)
	}
	return all, nil
}
