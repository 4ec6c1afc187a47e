export function SessionMenu() {
  return null
}
