#!/bin/sh
# Prints the evaluations of the runs that have ended, as CSV: docs/evidence/collect.sh RUN… > short.csv
# PGRLAB names the program (default: pgrlab).
set -eu
: "${PGRLAB:=pgrlab}"
value() { sed -n "s/^$1 = '\{0,1\}\([^']*\)'\{0,1\}\$/\1/p" "$2" | head -n 1; }

echo task,method,utd,seed,step,return_mean,return_std
for run in "$@"; do
	grep -q '"type":"done"' "$run/events.jsonl" || continue
	config=$run/config.toml
	label=$(value task "$config"),$(value method "$config"),$(value utd "$config"),$(value seed "$config")
	"$PGRLAB" export "$run" --format csv | awk -F, -v label="$label" '
		$4 == "evaluated/return_mean" { mean[$1] = $5; if (!($1 in seen)) { seen[$1]; steps[++n] = $1 } }
		$4 == "evaluated/return_std"  { std[$1] = $5 }
		END { for (i = 1; i <= n; i++) printf "%s,%d,%.1f,%.1f\n", label, steps[i], mean[steps[i]], std[steps[i]] }'
done
