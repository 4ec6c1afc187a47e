//go:build !linux

package upload

// machineMemory returns how many bytes of memory the machine has: here, as much as the default
// needs.
func machineMemory() int64 { return unknownMemory }
