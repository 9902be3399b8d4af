// Package machine is about the machine that pgrlab runs on: doctor and bench, and which
// device --device means.
package machine
