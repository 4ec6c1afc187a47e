// The symbols of categories, which shapes tell apart where colours don't. The map draws them on a
// canvas and the legend as SVG.

/** The corners of each category's symbol in a circle of radius 1; a circle has none. */
const corners: readonly (readonly [x: number, y: number][])[] = [
  [],
  [],
  polygon(4, Math.PI / 4, 1.15),
  polygon(3, -Math.PI / 2, 1.25),
  polygon(4, 0, 1.2),
  star(5, 0.5, 1.3),
  polygon(6, 0, 1.15),
  star(4, 0.5, 1.4),
]

function polygon(count: number, start: number, radius: number): [number, number][] {
  return Array.from({ length: count }, (_, i) => at(start + (2 * Math.PI * i) / count, radius))
}

function star(points: number, inner: number, radius: number): [number, number][] {
  return Array.from({ length: 2 * points }, (_, i) =>
    at(-Math.PI / 2 + (Math.PI * i) / points, i % 2 === 0 ? radius : radius * inner),
  )
}

function at(angle: number, radius: number): [number, number] {
  return [Math.cos(angle) * radius, Math.sin(angle) * radius]
}

/** Adds a category's symbol to the canvas's path. */
export function traceSymbol(
  ctx: CanvasRenderingContext2D,
  category: number,
  x: number,
  y: number,
  radius: number,
): void {
  const points = corners[category] ?? []
  ctx.beginPath()
  if (points.length === 0) ctx.arc(x, y, radius, 0, 2 * Math.PI)
  points.forEach(([dx, dy], i) => {
    if (i === 0) ctx.moveTo(x + dx * radius, y + dy * radius)
    else ctx.lineTo(x + dx * radius, y + dy * radius)
  })
  ctx.closePath()
}

/** Returns a category's symbol as the data of an SVG path around 0, 0. */
export function symbolPath(category: number, radius: number): string {
  const points = corners[category] ?? []
  if (points.length === 0) {
    return `M${-radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`
  }
  const text = points.map(([x, y]) => `${(x * radius).toFixed(2)} ${(y * radius).toFixed(2)}`)
  return `M${text.join('L')}Z`
}
