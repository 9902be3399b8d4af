package report

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// The measures of generated rows have their own table: for each seed the mean over the generations
// until the report's step, without values that are not numbers. Methods without generations have no
// line.
func TestGeneratedTable(t *testing.T) {
	root := t.TempDir()
	line := func(step int, change any, coverage float64) run.Line {
		return run.Line{Type: "generated", Step: step, Member: run.NoMember, Body: map[string]any{
			"coverage": coverage, "dynamics": map[string]any{"change": change, "reward_relative": 4.5}}}
	}
	var runs []*Run
	for seed := range 5 {
		runs = append(runs,
			journal(t, root, "t", "pgr", seed, []float64{1, 2}, line(1000, 0.2, 0.6), line(2000, 0.4, 0.8), line(9000, 100, 0)),
			journal(t, root, "t", "sac", seed, []float64{1, 2}))
	}
	runs = append(runs, journal(t, root, "t", "synther", 0, []float64{1, 2}, line(1000, "NaN", 0.6), line(2000, 0.4, 0.5)))
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text, data bytes.Buffer
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| pgr | – | – | 0.300 ± 0.000 (n=5) | 4.50 ± 0.00 (n=5) | 0.700 ± 0.000 (n=5) | – |",
		"| synther | – | – | 0.4 (n=1) | 4.5 (n=1) | 0.55 (n=1) | – |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("lacks %s:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "| sac | –") {
		t.Errorf("a method that generates nothing:\n%s", text.String())
	}
	if err := json.NewEncoder(&data).Encode(r); err != nil || !strings.Contains(data.String(), `{"name":"of r","n":5,"points":[4.5,4.5,4.5,4.5,4.5],"mean":4.5,"std":0}`) {
		t.Errorf("%v\n%s", err, data.String())
	}
}

// The measures of episodes in mazes have their own table and are kept in results files. Runs with a
// bonus in other tasks have no such table.
func TestExploredTable(t *testing.T) {
	root := t.TempDir()
	explored := func(step int, goals, moved float64) run.Line {
		return run.Line{Type: "evaluated", Step: step, Member: run.NoMember, Body: map[string]any{
			"return_mean": 10 * goals, "explored": map[string]any{"goals": goals, "cells": 30, "moved": moved, "on_spot": 0.25}}}
	}
	losses := func(step int, bonus float64) run.Line {
		return run.Line{Type: "losses", Step: step, Member: run.NoMember, Body: map[string]any{"bonus": bonus, "episodes": map[string]any{"accuracy": 0.875}}}
	}
	ended := run.Line{Type: "done", Step: 2000, Member: run.NoMember}
	var runs []*Run
	for seed := range 2 {
		runs = append(runs,
			journal(t, root, "maze", "ppo-eco", seed, nil, explored(1000, 1, 0.5), explored(2000, 2, 0.25), losses(1000, 0.25), losses(2000, -0.75), ended),
			journal(t, root, "cheetah", "redq-curiosity", seed, []float64{1, 2}, losses(1000, 0.5), ended))
	}
	for _, r := range runs {
		r.Fingerprint = "abc123"
	}
	check := func(what string, runs []*Run) {
		t.Helper()
		r, err := New(runs, Options{})
		if err != nil {
			t.Fatal(what, err)
		}
		var text bytes.Buffer
		if err := r.Markdown(&text); err != nil {
			t.Fatal(what, err)
		}
		if want := "| ppo-eco | 1.5, 1.5 (n=2) | 30, 30 (n=2) | 0.375, 0.375 (n=2) | 0.25, 0.25 (n=2) | -0.25, -0.25 (n=2) | – | – | 0.875, 0.875 (n=2) |"; !strings.Contains(text.String(), want) {
			t.Errorf("%s lacks %s:\n%s", what, want, text.String())
		}
		if n := strings.Count(text.String(), "In mazes"); n != 1 {
			t.Errorf("%s: %d such tables:\n%s", what, n, text.String())
		}
	}
	check("the runs", runs)
	path := filepath.Join(root, "results.csv")
	if _, err := AddResults(path, runs); err != nil {
		t.Fatal(err)
	}
	kept, err := ReadResults(path)
	if err != nil {
		t.Fatal(err)
	}
	check("the file", kept)
}

// The measures are those of the seeds whose returns count.
func TestMeasuresAreOfTheSeedsThatCount(t *testing.T) {
	root := t.TempDir()
	line := func(coverage float64) run.Line {
		return run.Line{Type: "generated", Step: 1000, Member: run.NoMember, Body: map[string]any{"coverage": coverage}}
	}
	runs := []*Run{journal(t, root, "t", "pgr", 0, []float64{1, 2}, line(0.5)), journal(t, root, "t", "pgr", 1, []float64{1}, line(0.75))}
	r, err := New(runs, Options{Step: 2000})
	if err != nil {
		t.Fatal(err)
	}
	row := r.Tasks[0].Rows[0]
	if row.N != 1 || row.Missing != 1 {
		t.Fatalf("%+v", row)
	}
	for _, m := range row.Generated {
		if m.Name == "coverage" && (m.N != 1 || m.Points[0] != 0.5) {
			t.Errorf("%+v", m)
		}
	}
}
