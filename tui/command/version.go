package command

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/sbom"
)

// versionReport is what version --json prints. Commit, time and modified are known of a binary that
// was built with -buildvcs=true, as those of a release are.
type versionReport struct {
	Version  string        `json:"version"`
	Commit   string        `json:"commit,omitempty"`
	Time     string        `json:"commit_time,omitempty"`
	Modified bool          `json:"modified,omitempty"` // files differed from the commit
	Go       string        `json:"go"`
	OS       string        `json:"os"`
	Arch     string        `json:"arch"`
	Tags     string        `json:"tags,omitempty"`
	Physics  physicsReport `json:"mujoco"`
}

type physicsReport struct {
	Version  string `json:"version"`
	SHA256   string `json:"sha256"` // of mujoco.wasm
	Embedded bool   `json:"embedded"`
}

func versionCommand(d cli.Deps) *cobra.Command {
	var asJSON, asSBOM bool
	c := &cobra.Command{
		Use:   "version [BINARY]",
		Short: "print the version, or what is inside the binary",
		Long: `Prints the version. --sbom prints a software bill of materials (CycloneDX 1.6, JSON): every
Go module and the physics, with versions, licences and SHA-256. For modules these are the sums
of go.sum, for MuJoCo that of mujoco.wasm.

With BINARY, --sbom describes that file: a pgrlab of the same commit for another platform.`,
		Example: `  pgrlab version --json
  pgrlab version --sbom > pgrlab.cdx.json`,
		Args: cli.RangeArgs(0, 1, "at most one binary"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case asJSON && asSBOM:
				return cli.Usagef("version: --json and --sbom exclude each other")
			case asSBOM:
				return writeSBOM(c.OutOrStdout(), d, args)
			case len(args) > 0:
				return cli.Usagef("version: a binary is described with --sbom only")
			case asJSON:
				return cli.WriteJSON(c.OutOrStdout(), reportVersion(d))
			}
			_, err := fmt.Fprint(c.OutOrStdout(), versionLine(d))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: version, commit, Go, platform, MuJoCo")
	c.Flags().BoolVar(&asSBOM, "sbom", false, "print what is inside the binary: CycloneDX 1.6")
	return c
}

// versionLine is what version and --version print.
func versionLine(d cli.Deps) string {
	return fmt.Sprintf("pgrlab %s %s %s/%s\n", d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func reportVersion(d cli.Deps) versionReport {
	p := d.Embedded
	r := versionReport{
		Version: d.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Physics: physicsReport{Version: p.Version, SHA256: p.SHA256, Embedded: p.Size > 0},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		r.Commit, r.Time = sbom.Setting(info, "vcs.revision"), sbom.Setting(info, "vcs.time")
		r.Modified = sbom.Setting(info, "vcs.modified") == "true"
		r.Tags = sbom.Setting(info, "-tags")
	}
	return r
}

// writeSBOM describes the binary of this process, or the one that is named.
func writeSBOM(out io.Writer, d cli.Deps, args []string) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("version: find the binary: %w", err)
	}
	if len(args) > 0 {
		path = args[0]
	}
	file, info, err := readBinary(path)
	if err != nil {
		return fmt.Errorf("version: %w", err)
	}
	if own, ok := debug.ReadBuildInfo(); len(args) > 0 {
		commit := sbom.Setting(info, "vcs.revision")
		if !ok || commit == "" || commit != sbom.Setting(own, "vcs.revision") || info.Main.Version != own.Main.Version {
			return fmt.Errorf("version: %s does not say that it is of the same commit as this program: build both with -buildvcs=true from one commit", path)
		}
	}
	doc, err := sbom.Of(sbom.Binary{Version: d.Version, Info: info, Bytes: file, Physics: sbom.Physics(d.Embedded)})
	if err != nil {
		return fmt.Errorf("version: %w", err)
	}
	return cli.WriteJSON(out, doc)
}

// maxBinary is more than any binary of this program has.
const maxBinary = 1 << 29

// readBinary reads the file of a Go program, and what the Go tool recorded in it.
func readBinary(path string) ([]byte, *debug.BuildInfo, error) {
	f, err := run.OpenNamed(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxBinary+1))
	if err == nil && len(file) > maxBinary {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(file))
	if err != nil {
		return nil, nil, fmt.Errorf("%s is no program that Go has built: %w", path, err)
	}
	return file, info, nil
}
