package scale

import "slices"

// The balancer's settings by default, in bytes, and the factor at which it starts, from the
// MongoDB manual, "Sharded Cluster Balancer" and "Data Partitioning with Chunks".
const (
	RangeSize       = 128 << 20
	startDifference = 3
)

// Cluster is how one collection lies on shards. The numbers of the places are bytes.
type Cluster struct {
	places Places
	// rangeSize is the most that one move takes, in bytes.
	rangeSize float64
	// held are the places of each shard, and bytes their sums.
	held  [][]int
	bytes []float64
}

// NewCluster splits the places evenly over the shards. rangeSize is in bytes.
func NewCluster(places Places, shards int, rangeSize float64) *Cluster {
	c := &Cluster{places: places, rangeSize: rangeSize, held: make([][]int, shards), bytes: make([]float64, shards)}
	for i, n := range places {
		shard := places.shardOf(i, shards)
		c.held[shard] = append(c.held[shard], i)
		c.bytes[shard] += n
	}
	return c
}

// AddShards adds empty shards.
func (c *Cluster) AddShards(n int) {
	c.held = append(c.held, make([][]int, n)...)
	c.bytes = append(c.bytes, make([]float64, n)...)
}

// Moves are what a balancing has moved.
type Moves struct {
	Bytes  float64
	Ranges int
	// Rounds is the number of rounds in which each shard takes part in one move at most.
	Rounds int
}

// Balance moves ranges as MongoDB's balancer does: from the shard with the most bytes to the
// one with the fewest, while they differ by three range sizes. A place above the range
// size stays where it is.
func (c *Cluster) Balance() Moves {
	var moves Moves
	order := make([]int, len(c.bytes))
	for i := range order {
		order[i] = i
	}
	for {
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case c.bytes[a] > c.bytes[b]:
				return -1
			case c.bytes[a] < c.bytes[b]:
				return 1
			}
			return 0
		})
		moved := false
		for from, to := 0, len(order)-1; from < to; from++ {
			if c.bytes[order[from]]-c.bytes[order[to]] < startDifference*c.rangeSize {
				break
			}
			if bytes := c.move(order[from], order[to]); bytes > 0 {
				moves.Bytes, moves.Ranges, moved = moves.Bytes+bytes, moves.Ranges+1, true
				to--
			}
		}
		if !moved {
			return moves
		}
		moves.Rounds++
	}
}

// move moves the last range of a shard that is not jumbo, and returns its bytes.
func (c *Cluster) move(from, to int) float64 {
	held, bytes := c.held[from], 0.0
	end := len(held)
	for end > 0 && c.places[held[end-1]] > c.rangeSize {
		end--
	}
	start := end
	for start > 0 && bytes+c.places[held[start-1]] <= c.rangeSize && (start == end || held[start-1] == held[start]-1) {
		start--
		bytes += c.places[held[start]]
	}
	c.held[to] = append(c.held[to], held[start:end]...)
	c.held[from] = slices.Delete(held, start, end)
	c.bytes[from], c.bytes[to] = c.bytes[from]-bytes, c.bytes[to]+bytes
	return bytes
}

// EvenMoves returns the bytes that move if the places are split evenly again over more shards,
// a multiple of the present number, and each shard keeps as much as it may.
func EvenMoves(places Places, from, to int) float64 {
	moved := 0.0
	for i, n := range places {
		if places.shardOf(i, to)%(to/from) != 0 {
			moved += n
		}
	}
	return moved
}

// PerShard returns the sums of numbers of the same places by shard.
func (c *Cluster) PerShard(numbers Places) []float64 {
	sums := make([]float64, len(c.held))
	for shard, held := range c.held {
		for _, place := range held {
			sums[shard] += numbers[place]
		}
	}
	return sums
}
