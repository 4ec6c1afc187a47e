//go:build !race

package conformance

const hasRaceDetector = false
