// Package machine is about the machine that pgrlab runs on: doctor and bench, and the meaning of
// --device.
package machine
