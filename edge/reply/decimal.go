package reply

import (
	"math"
	"strconv"
)

// appendDecimal appends the shortest plain decimal that reads back the same. It writes 0 for NaN
// and infinities, which no service sends.
func appendDecimal(b []byte, value float64) []byte {
	if value == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return append(b, '0')
	}
	return strconv.AppendFloat(b, value, 'f', -1, 64)
}
