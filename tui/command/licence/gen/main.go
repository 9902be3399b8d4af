// Gen writes the licences that the binary carries, ../texts.json.zst, and the file
// NOTICE of the repository. It is run from the repository's root:
//
//	go run ./tui/command/licence/gen
//
// Modules and their versions come from the module graph, their texts from the module cache. Neither
// MuJoCo's npm package nor the libraries inside it hold a licence: their texts stay the same as
// long as MuJoCo's version does. For another version give a folder that has a folder for each of
// them, named NAME@VERSION, with its texts:
//
//	go run ./tui/command/licence/gen -physics DIR
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/klauspost/compress/zstd"

	"pgrlab/tui/command/licence"
)

// The files to write.
const (
	packedFile = "tui/command/licence/texts.json.zst"
	noticeFile = "NOTICE"
)

func main() {
	physics := flag.String("physics", "", "folder with the licences of MuJoCo and what is in it")
	flag.Parse()
	if err := run(*physics); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(physics string) error {
	parts, err := collect(".")
	if err != nil {
		return err
	}
	inside, err := ofPhysics(".", physics)
	if err != nil {
		return err
	}
	parts = append(parts, inside...)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(parts); err != nil {
		return err
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := os.WriteFile(packedFile, w.EncodeAll(text.Bytes(), nil), 0o644); err != nil {
		return err
	}
	return os.WriteFile(noticeFile, notice(parts), 0o644)
}

// notice lists the parts.
func notice(parts []licence.Part) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "pgrlab\nCopyright (c) 2026 The pgrlab authors\n\n"+
		"The binary contains these works, under their own licences. pgrlab licences prints\ntheir texts and notices.\n\n")
	for _, p := range parts[1:] {
		fmt.Fprintf(&b, "  %s: %s\n", p.Title(), p.Licence)
	}
	return b.Bytes()
}
