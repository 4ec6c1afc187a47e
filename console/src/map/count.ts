/** Returns a number in at most four characters, such as 940, 1.2k and 15k. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 9950) return `${(count / 1000).toFixed(1)}k`
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  return `${(count / 1e6).toFixed(1)}M`
}
