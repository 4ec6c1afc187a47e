// Areas of the map: what is in view is split into the cells of a fixed grid, so that a cell that
// was fetched once serves every later view. Each level of the grid halves the cells.

/** A box between two parallels and two meridians, in degrees. It never crosses the antimeridian. */
export interface Box {
  south: number
  west: number
  north: number
  east: number
}

/** A cell of the grid. Columns count from -180 eastwards, rows from -90 northwards. */
export interface Cell {
  level: number
  column: number
  row: number
}

/** Width and height of a cell of level 0, in degrees. */
export const widestCell = 90

/** The deepest level: cells of about 0.005 degrees, half a kilometre. */
export const deepestLevel = 14

/** A view is split into at most this many cells. */
const cellsOfView = 24

export function cellSize(level: number): number {
  return widestCell / 2 ** level
}

export function cellKey(cell: Cell): string {
  return `${cell.level}/${cell.column}/${cell.row}`
}

export function boxOfCell(cell: Cell): Box {
  const size = cellSize(cell.level)
  const west = -180 + cell.column * size
  const south = -90 + cell.row * size
  return { south, west, north: south + size, east: west + size }
}

export function parentOf(cell: Cell): Cell | undefined {
  if (cell.level === 0) return undefined
  return { level: cell.level - 1, column: cell.column >> 1, row: cell.row >> 1 }
}

/** Returns the four cells that make up a cell. */
export function childrenOf(cell: Cell): Cell[] {
  const level = cell.level + 1
  const column = cell.column * 2
  const row = cell.row * 2
  return [
    { level, column, row },
    { level, column: column + 1, row },
    { level, column, row: row + 1 },
    { level, column: column + 1, row: row + 1 },
  ]
}

/** Returns the cell of a level that holds a place. The last cells hold the upper limits, too. */
export function cellAt(lat: number, lng: number, level: number): Cell {
  const size = cellSize(level)
  return {
    level,
    column: clampIndex((lng + 180) / size, 360 / size),
    row: clampIndex((lat + 90) / size, 180 / size),
  }
}

/** Reports whether a cell holds a place. Each place is in one cell of a level. */
export function cellHolds(cell: Cell, lat: number, lng: number): boolean {
  const at = cellAt(lat, lng, cell.level)
  return at.column === cell.column && at.row === cell.row
}

/** Reports whether two boxes touch. */
export function boxesMeet(a: Box, b: Box): boolean {
  return a.south <= b.north && b.south <= a.north && a.west <= b.east && b.west <= a.east
}

/** Cuts a box to the Earth. The map may show more than that. */
export function clampBox(box: Box): Box {
  return {
    south: clamp(box.south, -90, 90),
    west: clamp(box.west, -180, 180),
    north: clamp(box.north, -90, 90),
    east: clamp(box.east, -180, 180),
  }
}

/** Returns the deepest level at which a view has no more than a few cells. */
export function levelOfView(view: Box): number {
  let level = 0
  while (level < deepestLevel && countCells(view, level + 1) <= cellsOfView) level++
  return level
}

/** Returns the cells that a view touches, those nearest to its middle first. */
export function cellsInView(view: Box, level = levelOfView(view)): Cell[] {
  const { first, last } = corners(view, level)
  const cells: Cell[] = []
  for (let row = first.row; row <= last.row; row++) {
    for (let column = first.column; column <= last.column; column++) cells.push({ level, column, row })
  }
  const size = cellSize(level)
  const middleColumn = ((view.west + view.east) / 2 + 180) / size - 0.5
  const middleRow = ((view.south + view.north) / 2 + 90) / size - 0.5
  const away = (cell: Cell) => (cell.column - middleColumn) ** 2 + (cell.row - middleRow) ** 2
  return cells.toSorted((a, b) => away(a) - away(b))
}

function countCells(view: Box, level: number): number {
  const { first, last } = corners(view, level)
  return (last.column - first.column + 1) * (last.row - first.row + 1)
}

function corners(view: Box, level: number): { first: Cell; last: Cell } {
  const box = clampBox(view)
  return { first: cellAt(box.south, box.west, level), last: cellAt(box.north, box.east, level) }
}

function clampIndex(position: number, count: number): number {
  return clamp(Math.floor(position), 0, count - 1)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
