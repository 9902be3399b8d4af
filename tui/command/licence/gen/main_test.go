package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/tui/command/licence"
)

// root is the path of the repository's root from this folder.
const root = "../../../.."

// The binary carries exactly the texts of what is linked into it, in the linked versions, and
// NOTICE names them.
func TestLicencesAreOfWhatIsLinked(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not there: ", err)
	}
	want, err := collect(root)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := ofPhysics(root, "")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, inside...)
	got, err := licence.Parts()
	if err != nil {
		t.Fatal(err)
	}
	const mend = "go run ./tui/command/licence/gen"
	names := func(parts []licence.Part) (all []string) {
		for _, p := range parts {
			all = append(all, p.Title()+" "+p.Licence)
		}
		return all
	}
	for _, name := range names(want) {
		if !slices.Contains(names(got), name) {
			t.Errorf("%s is linked, its licence is not there: %s", name, mend)
		}
	}
	for _, name := range names(got) {
		if !slices.Contains(names(want), name) {
			t.Errorf("%s is not linked, its licence is there: %s", name, mend)
		}
	}
	for i, p := range got {
		if i < len(want) && !slices.Equal(p.Texts, want[i].Texts) {
			t.Errorf("%s has other texts: %s", p.Title(), mend)
		}
		if len(p.Texts) == 0 || p.Licence == "" {
			t.Errorf("%s has no licence", p.Title())
		}
	}
	file, err := os.ReadFile(filepath.Join(root, noticeFile))
	if err != nil || string(file) != string(notice(got)) {
		t.Errorf("NOTICE is not what is linked (%v): %s", err, mend)
	}
}

// Licences are recognised by their words.
func TestKindsOf(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted, free\nof charge, to any person obtaining a copy":  "MIT",
		"Apache License\n   Version 2.0, January 2004":                                   "Apache-2.0",
		"Licensed under the Apache License, Version 2.0":                                 "Apache-2.0",
		"Redistribution and use in source and binary forms, with":                        "BSD-2-Clause",
		"Redistribution and use in source and binary forms … used to endorse or promote": "BSD-3-Clause",
		"All rights reserved.": "",
	} {
		if got := strings.Join(kindsOf(text), " "); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
