package machine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/muesli/termenv"
	"github.com/spf13/cobra"
	"golang.org/x/sys/cpu"
	"golang.org/x/term"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/theme"
)

// diagnosis is what doctor prints.
type diagnosis struct {
	Version  string         `json:"version"`
	Go       string         `json:"go"`
	CPU      cpuReport      `json:"cpu"`
	Kernels  cli.Kernels    `json:"kernels"`
	Physics  cli.Physics    `json:"physics"`
	GPU      gpuReport      `json:"gpu"`
	Terminal terminalReport `json:"terminal"`
}

type cpuReport struct {
	Model    string   `json:"model"`
	Features []string `json:"features"`
	CPUs     int      `json:"cpus"`    // usable by this process
	Threads  int      `json:"threads"` // after cgroup limits and $GOMAXPROCS
}

// gpuReport is what was found out about GPUs, and what a run with --device auto would do.
type gpuReport struct {
	Supported bool   `json:"supported"` // there is a usable one
	Note      string `json:"note"`
	cli.GPUs
	// Kernels says how compiling the kernels went for the GPU that auto takes; "" if it takes none:
	// GPUs in use by others are left alone.
	Kernels string `json:"kernels,omitempty"`
	Failed  string `json:"failed,omitempty"` // why the kernels cannot be used
}

type terminalReport struct {
	Terminal bool   `json:"terminal"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Colour   string `json:"colour"`
	TERM     string `json:"term"`
	NoColor  bool   `json:"no_color"`
}

// DoctorCommand is doctor.
func DoctorCommand(d cli.Deps) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "report on this machine: CPU, kernels, MuJoCo, GPU, terminal",
		Long: `Examines this machine as a run would: the CPU's features and the kernels chosen for
them, the threads allowed, where MuJoCo was found and how fast it steps, the GPUs and
whether their driver can run the kernels, and the terminal. The status is 1 if something
that a run needs is missing.`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r := examine(c.Context(), d, func(line string) { fmt.Fprintln(c.ErrOrStderr(), line) })
			if asJSON {
				if err := cli.WriteJSON(c.OutOrStdout(), r); err != nil {
					return err
				}
			} else if err := r.write(c.OutOrStdout()); err != nil {
				return err
			}
			return r.missing()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func examine(ctx context.Context, d cli.Deps, said func(line string)) diagnosis {
	r := diagnosis{
		Version:  d.Version,
		Go:       runtime.Version(),
		CPU:      examineCPU(),
		GPU:      examineGPU(d, said),
		Terminal: examineTerminal(),
	}
	if d.Kernels != nil {
		r.Kernels = d.Kernels()
	}
	if d.Physics != nil {
		r.Physics = d.Physics(ctx)
	}
	return r
}

// missing is the error for something that a run cannot do without.
func (r diagnosis) missing() error {
	if r.Kernels.Error != "" {
		return fmt.Errorf("doctor: kernels: %s", r.Kernels.Error)
	}
	if r.Physics.Error != "" {
		return fmt.Errorf("doctor: physics: %s", r.Physics.Error)
	}
	return nil
}

func examineCPU() cpuReport {
	r := cpuReport{Model: cpuModel(), CPUs: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0)}
	x := &cpu.X86
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.2", x.HasSSE42}, {"avx", x.HasAVX}, {"avx2", x.HasAVX2}, {"fma", x.HasFMA}, {"bmi2", x.HasBMI2},
		{"avx512f", x.HasAVX512F}, {"avx512dq", x.HasAVX512DQ}, {"avx512bw", x.HasAVX512BW}, {"avx512vl", x.HasAVX512VL}, {"amx_tile", x.HasAMXTile}, {"amx_bf16", x.HasAMXBF16},
		{"asimd", cpu.ARM64.HasASIMD},
	} {
		if f.has {
			r.Features = append(r.Features, f.name)
		}
	}
	return r
}

// cpuModel is the CPU's name if Linux reports it, else the architecture.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func examineTerminal() terminalReport {
	_, noColor := os.LookupEnv("NO_COLOR")
	r := terminalReport{TERM: os.Getenv("TERM"), NoColor: noColor}
	r.Terminal = term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		r.Width, r.Height = w, h
	}
	colours := termenv.Ascii
	if r.Terminal {
		colours = theme.OwnProfile()
	}
	r.Colour = map[termenv.Profile]string{
		termenv.Ascii: "none", termenv.ANSI: "16 colours", termenv.ANSI256: "256 colours", termenv.TrueColor: "true colour",
	}[colours]
	return r
}

func (r diagnosis) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("version", "%s, %s", r.Version, r.Go)
	row("cpu", "%s", r.CPU.Model)
	row("features", "%s", strings.Join(r.CPU.Features, " "))
	row("threads", "%d allowed on %d CPUs", r.CPU.Threads, r.CPU.CPUs)
	if r.Kernels.Error != "" {
		row("kernels", "none: %s", r.Kernels.Error)
	} else {
		row("kernels", "%s (%s; available: %s)", r.Kernels.Family, r.Kernels.Why, strings.Join(r.Kernels.Available, ", "))
	}
	r.writePhysics(row)
	r.GPU.write(row)
	if r.Terminal.Terminal {
		row("terminal", "%dx%d, %s, TERM=%s", r.Terminal.Width, r.Terminal.Height, r.Terminal.Colour, r.Terminal.TERM)
		if r.Terminal.Colour == "256 colours" {
			row("", "set COLORTERM=truecolor if it shows true colour: pictures of the agent are then smooth")
		}
	} else {
		row("terminal", "none, TERM=%s", r.Terminal.TERM)
	}
	return t.Flush()
}

func (r diagnosis) writePhysics(row func(name, format string, args ...any)) {
	p := r.Physics
	if p.Error != "" {
		row("mujoco", "not usable: %s", p.Error)
		return
	}
	row("mujoco", "%s %s", p.Version, p.Found)
	row("", "sha256 %s", p.SHA256)
	row("", "ready in %.2f s, %s at %.0f steps/s", p.CompileSeconds, p.Task, p.StepsPerSec)
}
