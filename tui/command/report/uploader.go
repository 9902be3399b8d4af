package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"pgrlab/core/report"
	"pgrlab/tui/command/rundir"
)

// uploader is a Python program that hands the numbers of runs to others' clients.
//
//go:embed upload.py
var uploader string

// writeUploader writes the uploader, with the run that it uploads unless others are named.
func writeUploader(w io.Writer, args []string) error {
	lists := map[string][]string{"SILENT": report.Unmeasured()}
	if len(args) == 1 {
		dir, err := rundir.Find(args[0])
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if _, err := rundir.Config(dir); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		lists["RUNS"] = []string{rundir.Absolute(dir)}
	}
	text := uploader
	for name, list := range lists {
		words, err := json.Marshal(list) // a list of Python as well
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		text = strings.Replace(text, name+" = []", name+" = "+strings.ReplaceAll(string(words), `","`, `", "`), 1)
	}
	_, err := io.WriteString(w, text)
	return err
}
