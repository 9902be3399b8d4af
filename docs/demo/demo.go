// Package demo is a recorded run of preset demo, with scenes, which pgrlab demo plays.
package demo

import "embed"

// Run is its run folder.
//
//go:embed config.toml events.jsonl scenes.jsonl
var Run embed.FS
