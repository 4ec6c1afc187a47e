//go:build race

package launch

const hasRaceDetector = true
